#include "masking/output_masker.hpp"

namespace oyat::masking {

std::string Hidden::in(std::string_view text, Tally& tally) const {
    if (nothing()) return std::string{text};
    OutputMasker masker{*this};
    std::string out;
    masker.feed(text, out);
    masker.finish(out);
    tally.add(masker.tally());
    return out;
}

OutputMasker::OutputMasker(const Hidden& hidden) {
    if (hidden.values) values_.emplace(hidden.values);
    if (hidden.forms) forms_.emplace(hidden.forms);
}

// Takes a step of the first masker and passes what comes out of it through the second.
template <class Step>
void OutputMasker::through_values(Step step, std::string& out) {
    if (!values_) return;
    if (!forms_) return step(*values_, out);
    std::string between;
    step(*values_, between);
    forms_->feed(between, out);
}

void OutputMasker::feed(std::string_view bytes, std::string& out) {
    if (!values_ && !forms_) {
        out += bytes;
    } else if (!values_) {
        forms_->feed(bytes, out);
    } else {
        through_values([bytes](StreamMasker& masker, std::string& to) { masker.feed(bytes, to); }, out);
    }
}

bool OutputMasker::holds_little() const {
    return (values_ && values_->holds_little()) || (forms_ && forms_->holds());
}

void OutputMasker::release(std::string& out) {
    through_values([](StreamMasker& masker, std::string& to) { masker.release(to); }, out);
    if (forms_) forms_->release(out);
}

void OutputMasker::finish(std::string& out) {
    through_values([](StreamMasker& masker, std::string& to) { masker.finish(to); }, out);
    if (forms_) forms_->release(out);
}

void OutputMasker::use(const Hidden& hidden) {
    if (!hidden.values) return;  // values are only let go when nothing of them can be under way
    if (values_) {
        values_->use(hidden.values);
    } else {
        values_.emplace(hidden.values);
    }
}

Tally OutputMasker::tally() const {
    Tally all;
    if (values_) all.add(values_->tally());
    if (forms_) all.add(forms_->tally());
    return all;
}

}  // namespace oyat::masking
