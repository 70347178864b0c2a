#include "engine/microvm/places.hpp"

#include "layers/directory.hpp"

namespace oyat::microvm {

void make_places(const Places& places) {
    for (const std::string& path :
         {places.guests(), places.bases(), places.warm(), places.shared, places.boxes(), places.cage()}) {
        static_cast<void>(layers::make_directories(path));
    }
}

}  // namespace oyat::microvm
