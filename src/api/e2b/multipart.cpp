#include "api/e2b/multipart.hpp"

#include "http/fields.hpp"

namespace oyat::e2b {
namespace {

constexpr std::size_t kMaxHead = 16 * 1024;
constexpr std::size_t kMaxBoundary = 70;

std::string_view trimmed(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// Where the quoted text that begins behind text[0] == '"' ends. A backslash before a quote escapes it unless
// nothing but the end or another parameter follows: then it is the last character of a name.
std::size_t closing_quote(std::string_view text) {
    for (std::size_t i = 1; i < text.size(); ++i) {
        if (text[i] != '"') continue;
        const bool at_end = i + 1 == text.size() || text[i + 1] == ';';
        if (text[i - 1] != '\\' || at_end) return i;
    }
    return std::string_view::npos;
}

// Takes back what form encoders do to quotes and line breaks in names.
std::string unescaped(std::string_view text) {
    std::string plain;
    while (!text.empty()) {
        if (text.starts_with("%22")) {
            plain += '"';
        } else if (text.starts_with("%0D")) {
            plain += '\r';
        } else if (text.starts_with("%0A")) {
            plain += '\n';
        } else if (text.starts_with("\\\"")) {
            plain += '"';
            text.remove_prefix(2);
            continue;
        } else {
            plain += text.front();
            text.remove_prefix(1);
            continue;
        }
        text.remove_prefix(3);
    }
    return plain;
}

// The value of ;name="value" or ;name=value behind the first ';' of a field.
std::optional<std::string> parameter(std::string_view field, std::string_view wanted) {
    std::size_t at = field.find(';');
    while (at != std::string_view::npos) {
        field = trimmed(field.substr(at + 1));
        const std::size_t equals = field.find('=');
        if (equals == std::string_view::npos) return std::nullopt;
        const std::string_view name = trimmed(field.substr(0, equals));
        field = trimmed(field.substr(equals + 1));
        std::string_view value;
        if (field.starts_with('"')) {
            const std::size_t end = closing_quote(field);
            if (end == std::string_view::npos) return std::nullopt;
            value = field.substr(1, end - 1);
            field.remove_prefix(end + 1);
        } else {
            value = trimmed(field.substr(0, field.find(';')));
        }
        if (http::equal_ignoring_case(name, wanted)) return unescaped(value);
        at = field.find(';');
    }
    return std::nullopt;
}

Result<PartHead> parse_head(std::string_view text) {
    PartHead head;
    bool disposed = false;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find("\r\n"), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 2, text.size()));
        const std::size_t colon = line.find(':');
        if (colon == std::string_view::npos)
            return refuse(Errc::invalid_argument, "a part has a broken header");
        if (!http::equal_ignoring_case(trimmed(line.substr(0, colon)), "Content-Disposition")) continue;
        const std::string_view value = line.substr(colon + 1);
        head.name = parameter(value, "name").value_or("");
        head.filename = parameter(value, "filename");
        disposed = true;
    }
    if (!disposed) return refuse(Errc::invalid_argument, "a part has no Content-Disposition");
    return head;
}

}  // namespace

std::optional<std::string> multipart_boundary(std::string_view content_type) {
    const std::string_view type = trimmed(content_type.substr(0, content_type.find(';')));
    if (!http::equal_ignoring_case(type, "multipart/form-data")) return std::nullopt;
    std::optional<std::string> boundary = parameter(content_type, "boundary");
    if (!boundary || boundary->empty() || boundary->size() > kMaxBoundary) return std::nullopt;
    for (const char c : *boundary) {
        if (c < ' ' || c == 0x7F) return std::nullopt;
    }
    return boundary;
}

void MultipartReader::feed(std::string_view bytes) {
    buffer_.erase(0, taken_);
    taken_ = 0;
    buffer_ += bytes;
}

Result<MultipartReader::Event> MultipartReader::next() {
    while (true) {
        switch (state_) {
            case State::preamble: {
                const std::size_t at = rest().find(delimiter_);
                if (at == std::string_view::npos) {
                    // What can't begin a delimiter any more is dropped.
                    if (rest().size() >= delimiter_.size()) taken_ = buffer_.size() - delimiter_.size() + 1;
                    return NeedsMore{};
                }
                taken_ += at + delimiter_.size();
                state_ = State::after_delimiter;
                break;
            }
            case State::after_delimiter: {
                if (rest().size() < 2) return NeedsMore{};
                const std::string_view two = rest().substr(0, 2);
                if (two != "\r\n" && two != "--")
                    return refuse(Errc::invalid_argument, "a broken part boundary");
                taken_ += 2;
                state_ = two == "--" ? State::finished : State::head;
                break;
            }
            case State::head: return read_head();
            case State::data: return read_data();
            case State::finished: return Finished{};
        }
    }
}

Result<MultipartReader::Event> MultipartReader::read_head() {
    // A part without any header begins with the empty line itself.
    const bool bare = rest().starts_with("\r\n");
    const std::size_t end = bare ? 0 : rest().find("\r\n\r\n");
    if (end == std::string_view::npos) {
        if (rest().size() > kMaxHead) return refuse(Errc::invalid_argument, "a part has too long a head");
        return NeedsMore{};
    }
    Result<PartHead> head = parse_head(rest().substr(0, end));
    if (!head) return std::unexpected{std::move(head).error()};
    taken_ += end + (bare ? 2 : 4);
    // The line break that ends the head may also be the one of the delimiter: keep it in sight for an empty
    // part.
    state_ = State::data;
    return PartBegin{*std::move(head)};
}

MultipartReader::Event MultipartReader::read_data() {
    const std::string_view bytes = rest();
    const std::size_t at = bytes.find(delimiter_);
    if (at == 0) {
        taken_ += delimiter_.size();
        state_ = State::after_delimiter;
        return PartEnd{};
    }
    if (at != std::string_view::npos) {
        taken_ += at;
        return PartData{bytes.substr(0, at)};
    }
    // The last bytes may be the beginning of a delimiter.
    if (bytes.size() < delimiter_.size()) return NeedsMore{};
    const std::size_t sure = bytes.size() - delimiter_.size() + 1;
    taken_ += sure;
    return PartData{bytes.substr(0, sure)};
}

}  // namespace oyat::e2b
