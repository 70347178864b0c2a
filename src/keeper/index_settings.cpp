#include "keeper/index_settings.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <vector>

namespace oyat::keeper {
namespace {

constexpr std::string_view kBlanks = " \t\r";

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(kBlanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

template <class Body>
void each_line(std::string_view text, Body&& body) {
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        body(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
}

std::vector<std::string_view> words_of(std::string_view text) {
    std::vector<std::string_view> words;
    for (std::size_t at = 0; (at = text.find_first_not_of(kBlanks, at)) != std::string_view::npos;) {
        const std::size_t end = std::min(text.find_first_of(kBlanks, at), text.size());
        words.push_back(text.substr(at, end - at));
        at = end;
    }
    return words;
}

struct Setting {
    std::string_view name;
    std::string_view value;
};

Setting split_setting(std::string_view line, std::string_view separators) {
    const std::size_t at = line.find_first_of(separators);
    if (at == std::string_view::npos) return {};
    return {trimmed(line.substr(0, at)), trimmed(line.substr(at + 1))};
}

bool is_host_name(std::string_view word) {
    return !word.empty() &&
           word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:") ==
               std::string_view::npos;
}

bool pip_value_is_plain(std::string_view name, const std::vector<std::string_view>& values) {
    if (values.empty()) return false;
    return std::ranges::all_of(values, name == "trusted-host" ? is_host_name : is_plain_url);
}

}  // namespace

bool is_plain_url(std::string_view url) noexcept {
    for (const std::string_view scheme : {"https://", "http://"}) {
        if (!url.starts_with(scheme)) continue;
        const std::string_view authority =
            url.substr(scheme.size(), url.find_first_of("/?#", scheme.size()) - scheme.size());
        const bool printable =
            std::ranges::all_of(url, [](char c) { return c > ' ' && c < 0x7F && c != '"'; });
        return printable && !authority.empty() && !authority.contains('@');
    }
    return false;
}

std::string pip_conf(std::string_view host) {
    constexpr std::array wanted{std::string_view{"index-url"}, std::string_view{"extra-index-url"},
                                std::string_view{"trusted-host"}};
    std::string out = "[global]\ncert = " + std::string{kBundleInside} + "\n";
    std::set<std::string_view> taken;
    Setting open;  // a value may go on in indented lines
    std::vector<std::string_view> values;
    const auto finish = [&] {
        if (std::ranges::find(wanted, open.name) != wanted.end() && pip_value_is_plain(open.name, values) &&
            taken.insert(open.name).second) {
            out.append(open.name) += " =";
            for (const std::string_view value : values) out.append(" ").append(value);
            out += '\n';
        }
        open = {};
        values.clear();
    };
    bool applies = false;
    each_line(host, [&](std::string_view line) {
        const std::string_view text = trimmed(line);
        if (text.empty() || text.front() == '#' || text.front() == ';') return;
        if (line.front() == ' ' || line.front() == '\t') {
            std::ranges::copy(words_of(text), std::back_inserter(values));
            return;
        }
        finish();
        if (text.front() == '[') {
            applies = text == "[global]" || text == "[install]";
            return;
        }
        if (!applies) return;
        open = split_setting(text, "=:");
        values = words_of(open.value);
    });
    finish();
    return out;
}

std::string npmrc(std::string_view host) {
    std::string out = "cafile=" + std::string{kBundleInside} + "\n";
    std::set<std::string_view> taken;
    each_line(host, [&](std::string_view line) {
        const Setting setting = split_setting(line, "=");
        const bool registry = setting.name == "registry" ||
                              (setting.name.starts_with('@') && setting.name.ends_with(":registry"));
        std::string_view url = setting.value;
        if (url.size() >= 2 && url.front() == '"' && url.back() == '"') url = url.substr(1, url.size() - 2);
        if (!registry || !is_plain_url(url) || !taken.insert(setting.name).second) return;
        out.append(setting.name).append("=").append(url) += '\n';
    });
    return out;
}

std::string apt_proxies(std::string_view host) {
    std::string out;
    each_line(host, [&](std::string_view line) {
        // The one-line form only: Acquire::http::Proxy "http://proxy:3128";
        const std::vector<std::string_view> words = words_of(trimmed(line));
        if (words.size() != 2 || !words[0].starts_with("Acquire::http") || !words[0].ends_with("::Proxy"))
            return;
        if (words[0].find_first_of("{}\"#") != std::string_view::npos) return;
        std::string_view value = words[1];
        if (!value.ends_with("\";") || !value.starts_with('"')) return;
        value = value.substr(1, value.size() - 3);
        if (value != "DIRECT" && !is_plain_url(value)) return;
        out.append(words[0]).append(" \"").append(value).append("\";\n");
    });
    return out;
}

std::string foreign_hosts(std::string_view host) {
    std::string out;
    each_line(host, [&](std::string_view line) {
        const std::vector<std::string_view> words = words_of(line.substr(0, line.find('#')));
        if (words.size() < 2) return;
        const std::string_view address = words[0];
        // Loopback is the sandbox's own; the rest are the multicast names that every Debian lists.
        for (const std::string_view own : {"127.", "::1", "fe00::", "ff00::", "ff02::", "0.0.0.0"}) {
            if (address.starts_with(own)) return;
        }
        if (!std::ranges::all_of(words, is_host_name)) return;
        for (std::size_t at = 0; at < words.size(); ++at) out.append(at == 0 ? "" : " ").append(words[at]);
        out += '\n';
    });
    return out;
}

}  // namespace oyat::keeper
