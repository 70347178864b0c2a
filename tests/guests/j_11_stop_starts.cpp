// Stops every other process again and again for some seconds, so that programs are stopped between their
// clone and their exec.
#include <signal.h>
#include <time.h>
#include <unistd.h>

int main() {
    if (write(1, "stopping\n", 9) != 9) return 2;
    const time_t end = time(nullptr) + 8;
    while (time(nullptr) < end) {
        for (int i = 0; i < 200; ++i) kill(-1, SIGSTOP);
    }
    kill(-1, SIGCONT);
    return 0;
}
