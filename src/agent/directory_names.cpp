#include "agent/directory_names.hpp"

#include <dirent.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace oyat::agent {
namespace {

// Orders the heap so that its top is the name that comes first.
auto comes_later(const std::string& text) {
    return [&text](std::uint32_t a, std::uint32_t b) {
        return std::strcmp(text.data() + a, text.data() + b) > 0;
    };
}

}  // namespace

int read_directory(int directory, char* buffer, std::size_t size,
                   const std::function<void(std::string_view name, unsigned char type)>& callback) {
    const long got = ::syscall(SYS_getdents64, directory, buffer, size);
    for (long at = 0; at < got;) {
        const auto* entry = reinterpret_cast<const dirent64*>(buffer + at);
        at += entry->d_reclen;
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..") callback(name, entry->d_type);
    }
    return static_cast<int>(got);
}

int DirectoryNames::read_from(int directory, char* buffer, std::size_t size) {
    if (heap_.empty()) text_.clear();
    return read_directory(directory, buffer, size, [this](std::string_view name, unsigned char) {
        heap_.push_back(static_cast<std::uint32_t>(text_.size()));
        text_.append(name);
        text_ += '\0';
    });
}

void DirectoryNames::arrange() {
    std::make_heap(heap_.begin(), heap_.end(), comes_later(text_));
}

const char* DirectoryNames::take_first() {
    std::pop_heap(heap_.begin(), heap_.end(), comes_later(text_));
    const std::uint32_t at = heap_.back();
    heap_.pop_back();
    return text_.data() + at;
}

const char* DirectoryNames::take_any() {
    const std::uint32_t at = heap_.back();
    heap_.pop_back();
    return text_.data() + at;
}

}  // namespace oyat::agent
