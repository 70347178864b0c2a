#include "cli/command_line.hpp"

int main(int argc, char** argv) {
    return oyat::cli::run_command_line(argc, argv, OYAT_VERSION);
}
