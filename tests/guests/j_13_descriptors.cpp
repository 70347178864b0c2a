// A program gets descriptors 0, 1 and 2 and nothing else.
#include <dirent.h>
#include <stdlib.h>

#include "guest.hpp"

int main() {
    Guest guest{"J-13"};
    DIR* folder = opendir("/proc/self/fd");
    if (folder == nullptr) return guest.finish();
    int extra = 0;
    while (const dirent* entry = readdir(folder)) {
        if (entry->d_name[0] == '.') continue;
        const int fd = atoi(entry->d_name);
        if (fd > 2 && fd != dirfd(folder)) ++extra;
    }
    guest.must_hold("only 0, 1 and 2 are open", extra == 0);
    return guest.finish();
}
