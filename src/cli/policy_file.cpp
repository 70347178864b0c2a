#include "cli/policy_file.hpp"

#include <fstream>
#include <iostream>
#include <iterator>

#include "cli/failure.hpp"
#include "cli/local_file.hpp"
#include "policy/document.hpp"
#include "policy/vocabulary.hpp"

namespace oyat::cli {
namespace {

// One byte more than a document may have, so that a larger one is known as such.
std::string read(std::istream& from) {
    std::string text(policy::Document::kMaxBytes + 1, '\0');
    from.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(from.gcount()));
    return text;
}

std::string text_of(const std::string& file) {
    if (file == "-") return read(std::cin);
    std::ifstream stream{file, std::ios::binary};
    if (!stream) local_failure(file, "read");
    return read(stream);
}

}  // namespace

boost::json::object policy_document(const std::string& file, const std::string& preset) {
    if (file.empty()) return {{"preset", preset}};
    const std::string text = text_of(file);
    const policy::Vocabulary words;
    Result<policy::Document> document =
        file.ends_with(".json") ? document_from_json(text, words) : document_from_toml(text, words);
    if (!document)
        throw Failure{std::move(document).error().in(file), "'oyat policy ready coding' prints a good one"};
    return to_json(*document);
}

}  // namespace oyat::cli
