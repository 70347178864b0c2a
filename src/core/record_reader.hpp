#pragma once

#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "core/limits.hpp"

namespace oyat::core {

// Reads members that may be absent (then the default stays) but never of a wrong kind: an older record lacks
// what was added later, a damaged one is refused.
class RecordReader {
public:
    explicit RecordReader(const boost::json::object& from) : from_{from} {}

    void text(std::string_view name, std::string& into) {
        const boost::json::value* value = from_.if_contains(name);
        if (value == nullptr) return;
        if (!value->is_string()) return wrong(name);
        into.assign(value->get_string().data(), value->get_string().size());
    }
    template <class T>
    void number(std::string_view name, T& into) {
        const boost::json::value* value = from_.if_contains(name);
        if (value == nullptr) return;
        boost::system::error_code error;
        into = value->to_number<T>(error);
        if (error) wrong(name);
    }
    void flag(std::string_view name, bool& into) {
        const boost::json::value* value = from_.if_contains(name);
        if (value == nullptr) return;
        if (!value->is_bool()) return wrong(name);
        into = value->get_bool();
    }
    void time(std::string_view name, WallTime& into) {
        std::int64_t millis = unix_millis(into);
        number(name, millis);
        constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max() / 1'000'000;
        if (millis < 0 || millis > kMax) return wrong(name);
        into = from_unix_millis(millis);
    }
    template <class E, std::size_t N>
    void word(std::string_view name, E& into, const std::array<std::string_view, N>& words) {
        std::string text_of{words[static_cast<std::size_t>(into)]};
        text(name, text_of);
        for (std::size_t i = 0; i < N; ++i) {
            if (words[i] == text_of) {
                into = static_cast<E>(i);
                return;
            }
        }
        wrong(name);
    }
    void texts(std::string_view name, std::map<std::string, std::string>& into) {
        const boost::json::object* inner = object(name);
        if (inner == nullptr) return;
        for (const auto& [key, value] : *inner) {
            if (!value.is_string()) return wrong(name);
            into[std::string{key}] = std::string{value.get_string().data(), value.get_string().size()};
        }
    }
    void limits(std::string_view name, Limits& into) {
        const boost::json::object* inner = object(name);
        if (inner == nullptr) return;
        RecordReader read{*inner};
        read.number("memory_bytes", into.memory_bytes);
        read.number("cpu_millis", into.cpu_millis);
        read.number("processes", into.processes);
        read.number("disk_bytes", into.disk_bytes);
        read.number("disk_inodes", into.disk_inodes);
        read.number("io_bytes_per_second", into.io_bytes_per_second);
        read.number("open_files", into.open_files);
        if (!read.problem().empty()) wrong(name);
    }
    // Null when absent or (noted) not an object.
    const boost::json::object* object(std::string_view name) {
        const boost::json::value* value = from_.if_contains(name);
        if (value != nullptr && !value->is_object()) wrong(name);
        return value != nullptr ? value->if_object() : nullptr;
    }
    const boost::json::array* array(std::string_view name) {
        const boost::json::value* value = from_.if_contains(name);
        if (value != nullptr && !value->is_array()) wrong(name);
        return value != nullptr ? value->if_array() : nullptr;
    }
    void wrong(std::string_view name) {
        if (problem_.empty()) problem_ = "bad value of '" + std::string{name} + "'";
    }
    [[nodiscard]] const std::string& problem() const { return problem_; }

private:
    const boost::json::object& from_;
    std::string problem_;
};

}  // namespace oyat::core
