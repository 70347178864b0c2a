#include "egress/sent_question.hpp"

#include <sys/random.h>

#include <array>

#include "base/throwing.hpp"

namespace oyat::egress {

SentQuestion::SentQuestion(const dns::Question& question) : question_{question} {
    std::array<std::uint8_t, 34> random{};  // one bit for each byte of the longest name, and the number
    sys(::getrandom(random.data(), random.size(), 0), "get random bytes");
    id_ = static_cast<std::uint16_t>(random[0] << 8 | random[1]);
    dns::mix_case(question_.name, std::span{random}.subspan<2>());
    bytes_ = dns::write_query(id_, question_);
}

SentQuestion::Fit SentQuestion::fit(const dns::Reply& reply) const {
    const bool same = reply.id == id_ && reply.question.type == question_.type &&
                      reply.question.klass == question_.klass &&
                      dns::same_name(reply.question.name, question_.name);
    if (!same) return Fit::stranger;
    return reply.question.name == question_.name ? Fit::exact : Fit::other_case;
}

}  // namespace oyat::egress
