#include "cli/sandbox/landlock.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace coldtrace::cli {
namespace {

constexpr u32 ask_version = 1U << 0;  // LANDLOCK_CREATE_RULESET_VERSION
constexpr int path_beneath = 1;       // LANDLOCK_RULE_PATH_BENEATH

// landlock_ruleset_attr, whose size says which ABI is meant.
struct RulesetAttributes {
  u64 files;
  u64 network;  // from ABI 4 on
  u64 scopes;   // from ABI 6 on
};

// landlock_path_beneath_attr; the kernel reads 12 bytes.
struct PathAttributes {
  u64 rights;
  int folder;
};

constexpr u64 of_one_file = landlock_right::execute | landlock_right::write_file |
                            landlock_right::read_file | landlock_right::truncate;

// All that an ABI knows but control of devices, which the filter of system calls has.
u64 handled_by(unsigned abi, Landlock::Side side) {
  constexpr u64 first = (1U << 13) - 1;
  constexpr u64 refer = 1U << 13;
  constexpr u64 reading = landlock_right::read_file | landlock_right::read_folder;
  if (side == Landlock::Side::reading) return reading;
  u64 rights = first & ~reading;
  if (abi >= 2) rights |= refer;
  if (abi >= 3) rights |= landlock_right::truncate;
  return rights;
}

std::size_t attributes_size(unsigned abi) {
  if (abi >= 6) return sizeof(RulesetAttributes);
  return abi >= 4 ? 2 * sizeof(u64) : sizeof(u64);
}

}  // namespace

unsigned Landlock::abi() {
  const auto version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, ask_version);
  return version > 0 ? static_cast<unsigned>(version) : 0;
}

Landlock::Landlock(Side side) {
  const auto version = abi();
  if (version == 0) return;
  handled_ = handled_by(version, side);
  // Binding and connecting of TCP; sockets of abstract names, and signals to who is not below.
  const u64 both = side == Side::all_other ? 3 : 0;
  const RulesetAttributes attributes{.files = handled_, .network = both, .scopes = both};
  ruleset_ = static_cast<int>(
      ::syscall(SYS_landlock_create_ruleset, &attributes, attributes_size(version), 0));
}

Landlock::~Landlock() {
  if (ruleset_ >= 0) ::close(ruleset_);
}

void Landlock::allow(const std::string& path, u64 rights) {
  const int place = ruleset_ < 0 ? -1 : ::open(path.c_str(), O_PATH | O_CLOEXEC);
  if (place < 0) return;
  struct stat status {};
  if (::fstat(place, &status) == 0) {
    const auto possible = S_ISDIR(status.st_mode) ? handled_ : handled_ & of_one_file;
    const PathAttributes attributes{.rights = rights & possible, .folder = place};
    ::syscall(SYS_landlock_add_rule, ruleset_, path_beneath, &attributes, 0);
  }
  ::close(place);
}

bool Landlock::enforce() {
  // Without it the kernel refuses the rules; a second time it is no longer among the system calls.
  (void)::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  return ruleset_ >= 0 && ::syscall(SYS_landlock_restrict_self, ruleset_, 0) == 0;
}

}  // namespace coldtrace::cli
