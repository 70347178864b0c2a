#include "core/masked_output.hpp"

namespace oyat::core {

// Values may come and go while the command runs.
void MaskedOutput::keep_up() {
    const std::uint64_t version = masks_.version(sandbox_);
    if (version == version_) return;
    version_ = version;
    const masking::Hidden& hidden = (masks_.*plane_)(sandbox_);
    if (out_) {
        out_->use(hidden);
        err_->use(hidden);
    } else if (!hidden.nothing()) {
        out_.emplace(hidden);
        err_.emplace(hidden);
    }
}

bool MaskedOutput::passes_all() {
    keep_up();
    return !out_;
}

std::string MaskedOutput::feed(OutputChannel channel, std::string_view bytes) {
    keep_up();
    if (!out_) return std::string{bytes};
    std::string shown;
    stream(channel)->feed(bytes, shown);
    return shown;
}

bool MaskedOutput::holds_little() const {
    return out_ && (out_->holds_little() || err_->holds_little());
}

std::string MaskedOutput::release(OutputChannel channel) {
    std::string shown;
    if (out_) stream(channel)->release(shown);
    return shown;
}

std::string MaskedOutput::finish(OutputChannel channel) {
    std::string shown;
    if (out_) stream(channel)->finish(shown);
    return shown;
}

masking::Tally MaskedOutput::tally() const {
    masking::Tally all;
    if (out_) {
        all.add(out_->tally());
        all.add(err_->tally());
    }
    return all;
}

}  // namespace oyat::core
