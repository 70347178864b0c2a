#pragma once

#include "core/test_house.hpp"

namespace oyat::core {

// The one sandbox of a story, and what is inside of it.
struct Scene {
    std::shared_ptr<Sandbox> sandbox;
    FakeInside& inside;
};

inline Task<Scene> scene(House& house) {
    auto sandbox = co_await house.create();
    FakeInside& inside = house.keeper.inside(sandbox->record().id);
    co_return Scene{std::move(sandbox), inside};
}

// The text of one of its streams, as the record keeps it.
inline std::string text_of(const Event& event, std::string_view stream) {
    const auto& text = event.fields.at(stream).as_object().at("text").as_string();
    return {text.data(), text.size()};
}

}  // namespace oyat::core
