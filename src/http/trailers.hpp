#pragma once

#include "http/fields.hpp"

namespace oyat::http {

// An exchange whose answer may have fields behind its body: one of HTTP/2. (Of HTTP/1.1 programs few would
// look at them, and most handlers have none, so Exchange does not speak of it.)
class TakesTrailers {
public:
    virtual ~TakesTrailers() = default;
    // Before finish(). Names and values have been checked; an answer without a body drops them.
    virtual void set_trailers(Fields trailers) = 0;
};

}  // namespace oyat::http
