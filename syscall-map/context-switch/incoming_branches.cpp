#include "syscall-map/context-switch/incoming_branches.hpp"

#include <algorithm>

namespace coldtrace::syscall_map {
namespace {

// Disassembly of x86 code falls in step with the real instructions within a few of them: it is
// begun at each of these bytes before a place. A branch that most of the runs meet is one; one that
// hardly any meets is the middle of other instructions.
constexpr u32 farthest_start = 48;
constexpr u32 nearest_start = 33;
constexpr u32 short_reach = 128 + 2;
constexpr std::size_t most_examined = 512;

class Collector {
 public:
  Collector(const KernelCode& code, const Disassembler& disassembler, const FunctionBody& body,
            const PatchedFunction& function, u32 size)
      : code_{code},
        disassembler_{disassembler},
        body_{body},
        function_{function},
        entry_{value(function.entry)},
        first_{entry_ < long_jump_size ? 0 : entry_ - long_jump_size},
        patched_end_{value(function.entry + size)},
        end_{std::max(value(body.end()), patched_end_)} {}

  IncomingBranches collect() {
    add_own();
    add_direct();
    add_short(function_.entry, code_.bytes_before(function_.entry, short_reach), true);
    add_short(body_.end(), code_.bytes(body_.end(), short_reach), false);
    std::sort(found_.begin(), found_.end(), [](const auto& a, const auto& b) {
      return std::pair{a.to, a.from} < std::pair{b.to, b.from};
    });
    found_.erase(
        std::unique(found_.begin(), found_.end(),
                    [](const auto& a, const auto& b) { return a.to == b.to && a.from == b.from; }),
        found_.end());
    return {std::move(found_), truncated_};
  }

 private:
  void add_own() {
    for (const auto& [from, flow] : body_.instructions()) {
      if (!flow.target) continue;
      const auto to = value(*flow.target);
      if (to >= first_ && to < patched_end_) add(from, *flow.target, false, true);
    }
  }

  void add_direct() {
    const auto& branches = function_.branches;
    auto next = std::lower_bound(
        branches.begin(), branches.end(), first_,
        [](const DirectBranch& branch, u32 rva) { return value(branch.target) < rva; });
    std::size_t examined = 0;
    for (; next != branches.end() && value(next->target) < end_; ++next) {
      const bool call_of_entry = next->call && next->target == function_.entry;
      if (call_of_entry || is_own(next->from)) continue;
      if (++examined > most_examined) {
        truncated_ = true;
        return;
      }
      const auto meeting = meet(next->from);
      if (meeting == Meeting::most || (meeting == Meeting::some && body_.holds(next->target)))
        add(next->from, next->target, true, meeting == Meeting::most);
    }
  }

  // Short branches right before or behind the function.
  void add_short(pe::Rva edge, core::ByteView bytes, bool before) {
    const u32 start = before ? value(edge) - static_cast<u32>(bytes.size()) : value(edge);
    for (u32 index = 0; index + 2 <= bytes.size(); ++index) {
      const auto opcode = std::to_integer<u8>(bytes[index]);
      const bool branch = opcode == 0xeb || (opcode & 0xf0) == 0x70 || (opcode & 0xfc) == 0xe0;
      if (!branch) continue;
      const auto distance = static_cast<i8>(std::to_integer<u8>(bytes[index + 1]));
      const auto to = start + index + 2 + static_cast<u32>(i32{distance});
      const pe::Rva from{start + index};
      if (to < first_ || to >= end_ || is_own(from)) continue;
      if (to > entry_ && !body_.holds(pe::Rva{to})) continue;
      if (meet(from) == Meeting::most) add(from, pe::Rva{to}, true, true);
    }
  }

  // A branch of the function, or bytes in the middle of one of its instructions.
  bool is_own(pe::Rva from) const {
    // What Windows has patched over hides the way to the rest of the function.
    const auto end = function_.self_patched
                         ? std::max(body_.end(), function_.stack_switch.value_or(function_.entry))
                         : body_.end();
    return body_.holds(from) || (from >= function_.entry && from < end);
  }

  enum class Meeting : u8 { few, some, most };

  Meeting meet(pe::Rva place) const {
    u32 runs = 0;
    u32 met = 0;
    for (u32 back = nearest_start; back <= farthest_start; ++back) {
      if (value(place) < back) break;
      pe::Rva at{value(place) - back};
      if (code_.bytes(at, 1).empty()) break;
      ++runs;
      while (at < place) {
        const auto instruction = disassembler_.decode(at);
        at = at + (instruction ? instruction->info.length : u8{1});
      }
      if (at == place) ++met;
    }
    if (runs == 0 || met * 4 < runs) return runs == 0 ? Meeting::some : Meeting::few;
    return met * 4 >= runs * 3 ? Meeting::most : Meeting::some;
  }

  void add(pe::Rva from, pe::Rva to, bool outside, bool proved) {
    const auto instruction = disassembler_.decode(from);
    if (!instruction) return;
    found_.push_back({from, to, disassembler_.text(*instruction), outside, proved});
  }

  const KernelCode& code_;
  const Disassembler& disassembler_;
  const FunctionBody& body_;
  const PatchedFunction& function_;
  u32 entry_;
  u32 first_;
  u32 patched_end_;
  u32 end_;
  std::vector<IncomingBranch> found_;
  bool truncated_ = false;
};

}  // namespace

IncomingBranches find_incoming_branches(const KernelCode& code, const Disassembler& disassembler,
                                        const FunctionBody& body, const PatchedFunction& function,
                                        u32 size) {
  return Collector{code, disassembler, body, function, size}.collect();
}

}  // namespace coldtrace::syscall_map
