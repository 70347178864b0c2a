#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/throwing.hpp"
#include "policy/document.hpp"
#include "policy/vocabulary.hpp"

// Documents of tenants, in both forms. What is accepted must be read again from what it was written as.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace oyat::policy;
    static const Vocabulary words;
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    for (const auto read : {document_from_json, document_from_toml}) {
        const oyat::Result<Document> document = read(text, words);
        if (!document) continue;
        const oyat::Result<Document> again = document_from(to_json(*document), words);
        if (!again || again->rules.size() != document->rules.size()) std::abort();
    }
    return 0;
}
