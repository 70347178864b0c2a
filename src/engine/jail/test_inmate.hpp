#pragma once

// The inside of a real jail in tests: the test program itself, started as pid 1 under the agent's name. For
// tests only.
namespace oyat::jail::test {

// Answers questions about what it can do in there. A question is a word on the socket, the answer a line.
[[noreturn]] void answer_questions();

}  // namespace oyat::jail::test
