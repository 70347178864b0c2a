#include "core/event_json.hpp"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <string_view>

#include "base/json_escape.hpp"

namespace oyat::core {
namespace {

constexpr std::array<std::string_view, 10> kFixed{"v",       "type",   "id",      "seq", "t",
                                                  "mono_ns", "tenant", "sandbox", "by",  "fault"};

void append_array(std::string& out, const boost::json::array& array) {
    out += '[';
    for (const auto& item : array) {
        if (out.back() != '[') out += ',';
        append_json(out, item);
    }
    out += ']';
}

void append_object(std::string& out, const boost::json::object& object) {
    out += '{';
    for (const auto& [key, value] : object) {
        if (out.back() != '{') out += ',';
        append_json_string(out, key);
        out += ':';
        append_json(out, value);
    }
    out += '}';
}

}  // namespace

void append_json(std::string& out, const boost::json::value& value) {
    switch (value.kind()) {
        case boost::json::kind::string: append_json_string(out, value.get_string()); break;
        case boost::json::kind::array: append_array(out, value.get_array()); break;
        case boost::json::kind::object: append_object(out, value.get_object()); break;
        default: out += boost::json::serialize(value);  // null, booleans, numbers
    }
}

std::string to_json_text(const Event& event) {
    std::string out = "{\"v\":1,\"type\":";
    append_json_string(out, event.type);
    out += ",\"id\":";
    append_json_string(out, event.id);
    out += ",\"seq\":" + std::to_string(event.seq) + ",\"t\":\"" + to_rfc3339(event.time) +
           "\",\"mono_ns\":" + std::to_string(event.mono_ns) + ",\"tenant\":";
    append_json_string(out, event.tenant);
    out += ",\"sandbox\":";
    if (event.sandbox.empty()) {
        out += "null";
    } else {
        append_json_string(out, event.sandbox);
    }
    out += ",\"by\":\"";
    out += to_string(event.by);
    out += "\",\"fault\":";
    if (event.fault) {
        append_json_string(out, to_string(*event.fault));
    } else {
        out += "null";
    }
    for (const auto& [key, value] : event.fields) {
        if (std::ranges::find(kFixed, std::string_view{key}) != kFixed.end()) continue;
        out += ',';
        append_json_string(out, key);
        out += ':';
        append_json(out, value);
    }
    out += '}';
    return out;
}

}  // namespace oyat::core
