#include <unistd.h>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/assert.hpp"

// What libstdc++ and base would do by throwing or printing ends the process instead. Defining these functions
// here keeps the unwinder, the demangler and the locale code out of the program: half of its size.
namespace {

[[noreturn]] void die(const char* why) noexcept {
    static_cast<void>(::write(STDERR_FILENO, "oyat-agent: ", 12));
    static_cast<void>(::write(STDERR_FILENO, why, std::strlen(why)));
    static_cast<void>(::write(STDERR_FILENO, "\n", 1));
    std::abort();
}

}  // namespace

// libc's own assertions, whose printing would bring its message catalogues and wide characters along.
extern "C" [[noreturn]] void __assert_fail(const char* condition, const char*, unsigned,
                                           const char*) noexcept {
    die(condition);
}
extern "C" [[noreturn]] void __cxa_pure_virtual() noexcept {
    die("pure virtual function called");
}

namespace oyat {
void assertion_failed(const char* condition, const char*, int) noexcept {
    die(condition);
}
}  // namespace oyat

namespace std {
void __throw_length_error(const char* what) {
    die(what);
}
void __throw_logic_error(const char* what) {
    die(what);
}
void __throw_out_of_range(const char* what) {
    die(what);
}
void __throw_out_of_range_fmt(const char* what, ...) {
    die(what);
}
void __throw_bad_function_call() {
    die("empty function called");
}
void __throw_bad_alloc() {
    die("out of memory");
}
void __throw_bad_array_new_length() {
    die("array too long");
}
}  // namespace std

void* operator new(std::size_t size) {
    void* memory = std::malloc(size == 0 ? 1 : size);
    if (memory == nullptr) die("out of memory");
    return memory;
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
