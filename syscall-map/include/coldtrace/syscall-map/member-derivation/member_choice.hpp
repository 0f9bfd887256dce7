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

// What `wanted` asks of a kernel of this machine: one member, "_EPROCESS.Token", or by a glob with
// a dot, "_EPROCESS.*", those that the known builds for the machine have, each once, as optional
// ones: by the first types of each build, in their order, those of structures without a path, bit
// fields left out.
[[nodiscard]] std::vector<MemberRequest> request_members(std::string_view wanted,
                                                         std::span<const KnownBuild> known,
                                                         pe::Machine machine);

// Of what a kernel says to the requests of a glob keeps what has a value; one member stays as it
// is. That no known build has a member that the glob means is `no-match`, that nothing shows where
// any of them lies `member-missing`.
void keep_shown_members(std::string_view wanted, std::vector<MemberValue>& members,
                        core::Findings& findings);

}  // namespace coldtrace::syscall_map
