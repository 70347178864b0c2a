#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include "layers/id_range.hpp"
#include "layers/staging.hpp"
#include "layers/store.hpp"

// For the tests of this room: a directory of their own on the machine's disk, a private mount namespace, id
// ranges.
namespace oyat::layers {

class MachineTest : public testing::Test {
protected:
    void SetUp() override {
        if (::geteuid() != 0) GTEST_SKIP() << "mounts and id ranges need root";
        std::string pattern = "/var/tmp/oyat-test-XXXXXX";
        dir_ = ::mkdtemp(pattern.data());
        std::filesystem::create_directories(dir_ + "/stage");
        staging_.emplace(dir_ + "/stage");
        std::string shared = "/dev/shm/oyat-test-XXXXXX";  // memory, as /run is
        uids_ = ::mkdtemp(shared.data());
        ids_.emplace(uids_, "test");
    }
    void TearDown() override {
        if (dir_.empty()) return;
        ids_.reset();
        staging_.reset();
        EXPECT_EQ(::umount2((dir_ + "/stage").c_str(), 0), 0) << "something is still mounted";
        std::filesystem::remove_all(dir_);
        std::filesystem::remove_all(uids_);
    }

    [[nodiscard]] StoreOptions options(const std::string& only = {}) const {
        return {.state_dir = dir_ + "/state",
                .state_id = "test",
                .image_bytes = std::uint64_t{512} << 20,
                .only = only};
    }
    [[nodiscard]] std::unique_ptr<Store> open(const std::string& only = {}) {
        probes_.clear();
        return open_store(options(only), *staging_, probes_);
    }

    // A directory with what a layer might hold.
    std::string make_layer(const std::string& name, const std::string& file, const std::string& text) {
        const std::string path = dir_ + "/" + name;
        std::filesystem::create_directories(path);
        std::ofstream{path + "/" + file} << text;
        return path;
    }

    std::string dir_;
    std::string uids_;  // the directory of claims
    std::optional<Staging> staging_;
    std::optional<IdRanges> ids_;
    std::vector<std::string> probes_;
};

inline Fd open_path(const std::string& path) {
    return Fd{::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
}

// Makes a file as a user of the host would: 0, or the errno. A sandbox's root is `range.base`.
inline int create_as(uid_t user, int dir, const char* name) {
    const pid_t child = ::fork();
    if (child == 0) {
        if (::setresgid(user, user, user) != 0 || ::setresuid(user, user, user) != 0) ::_exit(255);
        ::_exit(Fd{::openat(dir, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644)} ? 0 : errno);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

// Reads a file below a directory, "" when it is not there.
inline std::string text_of(int dir, const char* path) {
    const Fd file{::openat(dir, path, O_RDONLY | O_CLOEXEC)};
    std::string text(4096, '\0');
    const ssize_t got = file ? ::read(file.get(), text.data(), text.size()) : 0;
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return text;
}

}  // namespace oyat::layers
