#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/image.hpp"
#include "coldtrace/syscall-map/member-derivation/member_derivation.hpp"
#include "coldtrace/syscall-map/member_list.hpp"
#include "coldtrace/syscall-map/member_value.hpp"

namespace coldtrace::syscall_map {

// The requests that `wanted` means for a kernel for this machine: one member, "_EPROCESS.Token", or
// for a glob with a dot, "_EPROCESS.*", the members that the known builds for the machine have,
// each once, as optional ones. They come from the first types of each build, in their order;
// structures without a path and bit fields are left out.
[[nodiscard]] std::vector<MemberRequest> request_members(std::string_view wanted,
                                                         std::span<const KnownBuild> known,
                                                         pe::Machine machine);

// Keeps the values that a kernel has for the requests of a glob; a single member is kept in any
// case. If no known build has a member that matches the glob, that is `no-match`; if the place of
// none is found, `member-missing`.
void keep_shown_members(std::string_view wanted, std::vector<MemberValue>& members,
                        core::Findings& findings);

}  // namespace coldtrace::syscall_map
