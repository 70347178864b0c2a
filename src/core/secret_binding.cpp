#include "core/secret_binding.hpp"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <utility>

#include "base/throwing.hpp"
#include "core/json_text.hpp"

namespace oyat::core {
namespace {

namespace json = boost::json;

constexpr std::array<std::string_view, 6> kPlaces{"header", "set_header", "basic",
                                                  "query",  "body",       "aws_sigv4"};
constexpr std::array<std::string_view, 2> kOnCopy{"drop", "rebind"};

[[noreturn]] void wrong(const std::string& name, std::string_view wanted) {
    throw Error{Errc::invalid_argument, "binding: " + name + " must be " + std::string{wanted}};
}

// Takes an object apart, member by member; what is left over was not understood.
class Members {
public:
    Members(json::object object, std::string path) : object_{std::move(object)}, path_{std::move(path)} {}

    void text(std::string_view name, std::string& into) {
        if (const auto value = take(name)) {
            if (!value->is_string()) wrong(path_of(name), "a string");
            into.assign(value->get_string().data(), value->get_string().size());
        }
    }
    void flag(std::string_view name, bool& into) {
        if (const auto value = take(name)) {
            if (!value->is_bool()) wrong(path_of(name), "true or false");
            into = value->get_bool();
        }
    }
    void number(std::string_view name, std::uint64_t& into) {
        if (const auto value = take(name)) into = number_of(*value, name, ~std::uint64_t{0} >> 1);
    }
    // One string may stand for a list of one.
    void texts(std::string_view name, std::vector<std::string>& into) {
        const auto value = take(name);
        if (!value) return;
        if (value->is_string()) {
            into = {std::string{value->get_string().data(), value->get_string().size()}};
            return;
        }
        if (!value->is_array()) wrong(path_of(name), "a list of strings");
        for (const json::value& each : value->get_array()) {
            if (!each.is_string()) wrong(path_of(name), "a list of strings");
            into.emplace_back(each.get_string().data(), each.get_string().size());
        }
    }
    void ports(std::string_view name, std::vector<std::uint16_t>& into) {
        const auto value = take(name);
        if (!value) return;
        if (!value->is_array() || value->get_array().empty()) wrong(path_of(name), "a list of port numbers");
        into.clear();
        for (const json::value& each : value->get_array()) {
            into.push_back(static_cast<std::uint16_t>(number_of(each, name, 65'535)));
            if (into.back() == 0) wrong(path_of(name), "a list of port numbers");
        }
    }
    template <class E, std::size_t N>
    void word(std::string_view name, E& into, const std::array<std::string_view, N>& words) {
        std::string given{words[static_cast<std::size_t>(into)]};
        text(name, given);
        const auto found = std::ranges::find(words, std::string_view{given});
        if (found != words.end()) {
            into = static_cast<E>(found - words.begin());
            return;
        }
        std::string all;
        for (const std::string_view each : words) all += (all.empty() ? "" : ", ") + std::string{each};
        wrong(path_of(name), "one of " + all);
    }
    [[nodiscard]] std::optional<Members> object(std::string_view name) {
        auto value = take(name);
        if (!value) return std::nullopt;
        if (!value->is_object()) wrong(path_of(name), "an object");
        return Members{std::move(value->get_object()), path_of(name) + "."};
    }
    [[nodiscard]] std::optional<json::array> array(std::string_view name) {
        auto value = take(name);
        if (!value) return std::nullopt;
        if (!value->is_array()) wrong(path_of(name), "a list");
        return std::move(value->get_array());
    }
    [[nodiscard]] std::string path_of(std::string_view name) const { return path_ + std::string{name}; }
    void done() const {
        if (object_.empty()) return;
        const json::string name = json_text(std::string_view{object_.begin()->key()});
        throw Error{Errc::invalid_argument,
                    "binding: unknown member '" + path_ + std::string{name.data(), name.size()} + "'"};
    }

private:
    std::optional<json::value> take(std::string_view name) {
        const auto found = object_.find(name);
        if (found == object_.end()) return std::nullopt;
        json::value value = std::move(found->value());
        object_.erase(found);
        if (value.is_null()) return std::nullopt;
        return value;
    }
    [[nodiscard]] std::uint64_t number_of(const json::value& value, std::string_view name,
                                          std::uint64_t most) const {
        boost::system::error_code problem;
        const auto number = value.to_number<std::uint64_t>(problem);
        if (problem || number > most) wrong(path_of(name), "whole numbers up to " + std::to_string(most));
        return number;
    }

    json::object object_;
    std::string path_;
};

void read_scope(Members scope, SecretBinding& binding) {
    if (const auto commands = scope.array("commands")) {
        for (const json::value& each : *commands) {
            if (!each.is_object()) wrong("scope.commands", "a list of objects");
            Members command{each.get_object(), "scope.commands."};
            command.texts("argv", binding.commands.emplace_back());
            command.done();
        }
    }
    scope.done();
}

SecretBinding read(const json::object& from) {
    SecretBinding binding;
    Members top{from, ""};
    top.text("secret", binding.secret);
    top.text("env", binding.env);
    top.text("shape", binding.shape);
    if (auto where = top.object("where")) {
        where->texts("host", binding.hosts);
        where->ports("port", binding.ports);
        where->texts("method", binding.methods);
        where->texts("path", binding.paths);
        where->flag("allow_plain", binding.allow_plain);
        where->done();
    }
    if (auto how = top.object("how")) {
        how->word("in", binding.place, kPlaces);
        how->text("name", binding.name);
        how->text("format", binding.format);
        how->done();
    }
    if (auto scope = top.object("scope")) read_scope(*std::move(scope), binding);
    if (std::uint64_t expires = 0; top.number("expires_ms", expires), expires != 0) {
        binding.expires = from_unix_millis(static_cast<std::int64_t>(expires));
    }
    top.number("max_uses", binding.max_uses);
    top.flag("during_install", binding.during_install);
    top.word("on_fork", binding.on_fork, kOnCopy);
    top.word("on_snapshot", binding.on_snapshot, kOnCopy);
    top.done();
    return binding;
}

}  // namespace

json::object to_json(const SecretBinding& binding) {
    json::array ports(binding.ports.begin(), binding.ports.end());
    json::array commands;
    for (const auto& argv : binding.commands) commands.push_back({{"argv", json_texts(argv)}});
    json::object shown{{"secret", json_text(binding.secret)},
                       {"env", json_text(binding.env)},
                       {"shape", json_text(binding.shape)},
                       {"where",
                        {{"host", json_texts(binding.hosts)},
                         {"port", std::move(ports)},
                         {"method", json_texts(binding.methods)},
                         {"path", json_texts(binding.paths)},
                         {"allow_plain", binding.allow_plain}}},
                       {"how",
                        {{"in", kPlaces[static_cast<std::size_t>(binding.place)]},
                         {"name", json_text(binding.name)},
                         {"format", json_text(binding.format)}}},
                       {"scope", {{"commands", std::move(commands)}}},
                       {"max_uses", binding.max_uses},
                       {"during_install", binding.during_install},
                       {"on_fork", kOnCopy[static_cast<std::size_t>(binding.on_fork)]},
                       {"on_snapshot", kOnCopy[static_cast<std::size_t>(binding.on_snapshot)]}};
    if (binding.expires) shown["expires_ms"] = unix_millis(*binding.expires);
    return shown;
}

Result<SecretBinding> secret_binding_from_json(const json::object& from) {
    try {
        return read(from);
    } catch (Error& error) {
        return std::unexpected{std::move(error)};
    }
}

}  // namespace oyat::core
