#include "coldtrace/syscall-map/context_switch.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "coldtrace/core/text.hpp"
#include "coldtrace/core/unreadable.hpp"
#include "coldtrace/pe/base_relocations.hpp"
#include "syscall-map/code/direct_branches.hpp"
#include "syscall-map/code/disassembly.hpp"
#include "syscall-map/code/function_body.hpp"
#include "syscall-map/context-switch/context_switch_candidates.hpp"
#include "syscall-map/context-switch/patch_planner.hpp"
#include "syscall-map/context-switch/stack_exchange.hpp"

namespace coldtrace::syscall_map {
namespace {

// Seen in 12 x86 kernels of XP, 2003 and 7.
constexpr u32 entry_reach = 0x120;       // the stack is exchanged at most so far behind the entry
constexpr u32 dispatcher_reach = 0x200;  // KiDispatchInterrupt's call, behind its start
constexpr u32 prologue_reach = 0x60;     // KiSwapContext's call, behind its start
// Where branches may lead that matter to a candidate.
constexpr u32 margin_before = 0x200;
constexpr u32 margin_behind = 0x600;
constexpr std::size_t first_bytes_count = 28;
constexpr std::size_t most_candidates = 64;
constexpr std::size_t most_near_misses = 4;

// sub esp, 10h; mov [esp+0Ch], ebx; mov [esp+8], esi; mov [esp+4], edi; mov [esp], ebp
constexpr std::array<u8, 18> swap_context_prologue{0x83, 0xec, 0x10, 0x89, 0x5c, 0x24,
                                                   0x0c, 0x89, 0x74, 0x24, 0x08, 0x89,
                                                   0x7c, 0x24, 0x04, 0x89, 0x2c, 0x24};

pe::Rva before(pe::Rva rva, u32 bytes) {
  return pe::Rva{value(rva) < bytes ? 0 : value(rva) - bytes};
}

class Search {
 public:
  Search(const pe::ImageTables& tables, const std::vector<NamedPlace>& symbols)
      : code_{tables, symbols}, disassembler_{tables.image()} {
    candidates_ = name_candidates(code_, symbols, result_.findings, result_.reasons);
  }

  ContextSwitchSearch run() {
    exchanges_ = find_stack_exchanges(code_, result_.findings);
    branches_ = find_direct_branches(code_, ranges_of_interest(), result_.findings);
    dispatcher_ = code_.find_export("KiDispatchInterrupt");
    for (const auto& exchange : exchanges_) assign(exchange);
    for (auto& [entry, candidate] : candidates_) evaluate(entry, candidate);
    tell_duplicates_apart();
    summarize();
    return std::move(result_);
  }

 private:
  std::vector<RvaRange> ranges_of_interest() const {
    std::vector<RvaRange> ranges;
    const auto add = [&](pe::Rva from, pe::Rva to) {
      ranges.push_back({value(before(from, margin_before)), u64{value(to)} + margin_behind});
    };
    for (const auto& [entry, candidate] : candidates_) add(entry, entry);
    for (const auto& exchange : exchanges_) {
      add(before(exchange.save, entry_reach), exchange.save);
      if (const auto function = code_.function_at(exchange.save))
        add(function->start, function->start);
    }
    return ranges;
  }

  std::span<const DirectBranch> branches_to(pe::Rva from, pe::Rva behind) const {
    const auto by_target = [](const DirectBranch& branch, pe::Rva rva) {
      return branch.target < rva;
    };
    const auto first = std::lower_bound(branches_.begin(), branches_.end(), from, by_target);
    const auto last = std::lower_bound(first, branches_.end(), behind, by_target);
    return {first, last};
  }

  // The function that an exchange of the stack belongs to: a place that is known by name, the one
  // that .pdata has, or the nearest that is called.
  void assign(const StackExchange& exchange) {
    const auto function = code_.function_at(exchange.save);
    const bool has_start = function && !is_fragment(code_.image(), *function);
    const auto nearest = has_start ? function->start : before(exchange.save, entry_reach);
    if (const auto behind = candidates_.upper_bound(exchange.save); behind != candidates_.begin()) {
      auto& [entry, candidate] = *std::prev(behind);
      const bool structural = !candidate.symbol && !candidate.signature && !candidate.published;
      if (entry >= nearest && (!candidate.published || candidate.signature || is_called(entry)) &&
          (!structural || has_start)) {
        candidate.exchanges.push_back(exchange);
        return;
      }
    }
    const auto entry = has_start ? std::optional{function->start} : called_before(exchange.save);
    // Damaged tables lead out of the code.
    if (!entry || code_.bytes(*entry, 1).empty()) {
      unowned_.push_back(exchange);
      return;
    }
    if (candidates_.size() == most_candidates && !candidates_.contains(*entry)) {
      result_.findings.warning(
          "context-switch-limit", std::nullopt,
          "more than {} functions exchange the stack pointer; the others are not examined",
          most_candidates);
      return;
    }
    candidates_[*entry].exchanges.push_back(exchange);
  }

  bool is_called(pe::Rva entry) const {
    const auto branches = branches_to(entry, entry + 1);
    return std::any_of(branches.begin(), branches.end(),
                       [](const DirectBranch& branch) { return branch.call; });
  }

  // The nearest place with two callers, else with one.
  std::optional<pe::Rva> called_before(pe::Rva save) const {
    const auto branches = branches_to(before(save, entry_reach), save + 1);
    std::optional<pe::Rva> once;
    std::optional<pe::Rva> twice;
    std::optional<pe::Rva> last;
    for (const auto& branch : branches) {
      if (!branch.call) continue;
      if (last == branch.target) twice = branch.target;
      last = once = branch.target;
    }
    return twice ? twice : once;
  }

  // Some functions exchange the stack and are not a context switch. Those that nothing but
  // structure speaks for must have all of it.
  void evaluate(pe::Rva entry, const SwitchCandidate& candidate) {
    ContextSwitch found;
    found.rva = entry;
    found.name = candidate.enlightened ? "EnlightenedSwapContext" : "SwapContext";
    found.file_offset = code_.image().addresses().to_offset(entry);
    found.address = code_.image().optional_header().image_base + value(entry);
    for (const auto byte : code_.bytes(entry, unadjusted_bytes(entry)))
      found.first_bytes.push_back(std::to_integer<u8>(byte));
    found.evidence = candidate.evidence;
    found.verified = candidate.verified && candidate.signature;
    if (code_.starts_function(entry)) {
      found.end = code_.function_at(entry)->end;
      constexpr std::string_view sentence = "a function of .pdata starts here";
      const auto& known = found.evidence;  // a signature may have said so
      if (std::find(known.begin(), known.end(), sentence) == known.end())
        found.evidence.emplace_back(sentence);
    }
    const FunctionBody body{code_, disassembler_, entry};
    note_self_patch(found);
    const auto structure = note_structure(found, candidate);
    const auto callers = note_callers(found, body);
    const bool named = candidate.symbol || candidate.signature;
    const bool nothing_but_patch = structure == Structure::full && found.callers.empty();
    if (!named && !nothing_but_patch && (structure != Structure::full || callers == Callers::few)) {
      if (!candidate.exchanges.empty()) near_misses_.push_back(to_near_miss(found, structure));
      return;
    }
    const int kinds = (candidate.symbol ? 1 : 0) + (candidate.signature ? 1 : 0) +
                      (structure == Structure::full ? 1 : 0) + (callers == Callers::known ? 1 : 0);
    found.confidence = kinds >= 3 || candidate.symbol ? Confidence::high
                       : kinds == 2                   ? Confidence::medium
                                                      : Confidence::low;
    // The structure itself was seen in x86 kernels of these versions.
    if (const auto& version = code_.version();
        version && !code_.is_x64() && structure == Structure::full && callers == Callers::known) {
      const bool seen =
          ((*version)[0] == 5 && (*version)[1] >= 1) || ((*version)[0] == 6 && (*version)[1] == 1);
      found.verified |= seen;
    }
    PatchedFunction function;
    function.entry = entry;
    if (!candidate.exchanges.empty()) function.stack_switch = candidate.exchanges.front().save;
    function.self_patched = found.self_patched;
    function.branches = branches_;
    function.callers = found.callers;
    found.plan = make_patch_plan(code_, disassembler_, body, function);
    named_.push_back(named);
    if (candidate.symbol && !candidate.enlightened) symbol_ = entry;
    result_.candidates.push_back(std::move(found));
  }

  const std::vector<pe::BaseRelocation>& relocations() const {
    return code_.tables().relocations().entries;
  }

  // So many of the first bytes are in memory as they are in the file.
  std::size_t unadjusted_bytes(pe::Rva entry) {
    const auto& all = relocations();
    const auto next = std::lower_bound(
        all.begin(), all.end(), entry,
        [](const pe::BaseRelocation& relocation, pe::Rva rva) { return relocation.address < rva; });
    if (next == all.end()) return first_bytes_count;
    return std::min<std::size_t>(first_bytes_count, value(next->address) - value(entry));
  }

  // A jump to itself less 7 bytes, and before the entry the jump that it leads to.
  void note_self_patch(ContextSwitch& found) {
    const auto jump = disassembler_.decode(before(found.rva, 5));
    found.self_patched = found.first_bytes.size() >= 2 && found.first_bytes[0] == 0xeb &&
                         found.first_bytes[1] == 0xf9 && jump &&
                         jump->info.mnemonic == ZYDIS_MNEMONIC_JMP && jump->info.length == 5;
    if (!found.self_patched) return;
    const auto target = disassembler_.branch_target(*jump);
    patched_to_ = target;
    found.evidence.push_back(fmt::format(
        "its first bytes EB F9 lead to a jump before it, to {}: Windows 7 patches itself so under "
        "Hyper-V",
        target ? fmt::format("rva {:#x}", value(*target)) : "outside the image"));
  }

  enum class Structure : u8 { none, part, full };

  Structure note_structure(ContextSwitch& found, const SwitchCandidate& candidate) {
    if (candidate.exchanges.empty()) return Structure::none;
    const auto& exchange = candidate.exchanges.front();
    found.kernel_stack_offset = exchange.offset;
    found.evidence.push_back(fmt::format(
        "saves the stack pointer at rva {:#x} and loads it at rva {:#x}, both at offset {:#x} of "
        "the thread",
        value(exchange.save), value(exchange.load), exchange.offset));
    const auto traits = find_traits(code_, found.rva, found.end, exchange);
    const auto note = [&](const std::optional<pe::Rva>& trait, std::string_view what) {
      if (trait) found.evidence.push_back(fmt::format("{} at rva {:#x}", what, value(*trait)));
      return trait.has_value();
    };
    const bool cr3 = note(traits.writes_cr3, "switches the address space (mov cr3)");
    const bool prefetch = note(traits.prefetches, "prefetches the thread (prefetchw)");
    const bool time = note(traits.reads_timestamp, "accounts for time (rdtsc)");
    if (code_.is_x64()) return cr3 || prefetch || time ? Structure::full : Structure::part;
    const bool cr0 = note(traits.reads_cr0, "checks the floating point state (mov from cr0)");
    return cr0 && cr3 ? Structure::full : Structure::part;
  }

  enum class Callers : u8 { few, several, known };

  Callers note_callers(ContextSwitch& found, const FunctionBody& body) {
    u32 own = 0;
    bool known = false;
    for (const auto& branch : branches_to(found.rva, found.rva + 1)) {
      if (!branch.call) continue;
      if (body.holds(branch.from) || (branch.from >= found.rva && branch.from < body.end())) {
        ++own;
        continue;
      }
      const auto site = code_.describe(branch.from);
      if (!code_.is_x64() && dispatcher_ && branch.from >= *dispatcher_ &&
          value(branch.from) - value(*dispatcher_) < dispatcher_reach) {
        known = true;
        found.evidence.push_back(fmt::format("called from exported KiDispatchInterrupt + {:#x}",
                                             value(branch.from) - value(*dispatcher_)));
      }
      if (follows_prologue(branch.from)) {
        known = true;
        found.evidence.push_back(fmt::format(
            "called at rva {:#x}, after the instructions that KiSwapContext begins with",
            value(branch.from)));
      }
      found.callers.push_back(site);
    }
    if (own > 0)
      found.evidence.push_back(
          core::counted(own, "call of itself does not count", "calls of itself do not count"));
    found.evidence.push_back(
        core::counted(found.callers.size(), "direct call leads here", "direct calls lead here"));
    if (found.callers.size() < 2) return Callers::few;
    // On x64 nothing that is exported calls it: that a function starts here has to do.
    if (code_.is_x64()) known = found.end.has_value();
    return known ? Callers::known : Callers::several;
  }

  bool follows_prologue(pe::Rva call) const {
    if (code_.is_x64()) return false;
    const auto bytes = code_.bytes_before(call, prologue_reach);
    const auto expected = std::as_bytes(std::span{swap_context_prologue});
    return std::search(bytes.begin(), bytes.end(), expected.begin(), expected.end()) != bytes.end();
  }

  std::string to_near_miss(const ContextSwitch& found, Structure structure) const {
    return fmt::format(
        "the function at rva {:#x} exchanges the stack pointer at offset {:#x} of "
        "the thread, but {}",
        value(found.rva), found.kernel_stack_offset.value_or(0),
        structure != Structure::full
            ? code_.is_x64() ? "has neither mov cr3 nor prefetchw nor rdtsc"
                             : "does not read cr0 and write cr3"
            : fmt::format(
                  "{} to it, which is too few",
                  core::counted(found.callers.size(), "direct call leads", "direct calls lead")));
  }

  // Windows 7 has a second whole context switch for Hyper-V, which no call leads to: it is reached
  // through the self-patch, or its address is taken.
  void tell_duplicates_apart() {
    add_unowned();
    auto& all = result_.candidates;
    const bool any_called = std::any_of(
        all.begin(), all.end(), [](const ContextSwitch& found) { return !found.callers.empty(); });
    for (std::size_t index = 0; index < all.size();) {
      auto& found = all[index];
      const bool target = patched_to_ == found.rva && !found.self_patched;
      if (target) found.evidence.push_back("the jump before SwapContext leads here");
      if (target || (any_called && found.callers.empty() && !named_[index])) {
        if (!target)
          found.evidence.push_back(
              "no direct call leads here while another context switch has callers: it can only be "
              "patched in");
        found.name = "EnlightenedSwapContext";
      } else if (!named_[index] && found.callers.empty()) {
        near_misses_.push_back(to_near_miss(found, Structure::full));
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(index));
        named_.erase(named_.begin() + static_cast<std::ptrdiff_t>(index));
        continue;
      }
      ++index;
    }
    std::sort(all.begin(), all.end(),
              [](const ContextSwitch& a, const ContextSwitch& b) { return a.rva < b.rva; });
  }

  // Exchanges of the stack that no called place comes before: their function's address may be
  // taken by an instruction, which a relocation shows, or by the self-patch.
  void add_unowned() {
    if (unowned_.empty() || code_.is_x64()) return;
    std::vector<pe::Rva> taken;
    for (const auto& relocation : relocations()) {
      if (relocation.type != pe::RelocationType::highlow) continue;
      const auto address = core::load<u32>(code_.bytes(relocation.address, 4), 0);
      const auto rva = address ? code_.image().rva_of_address(*address) : std::nullopt;
      if (rva) taken.push_back(*rva);
    }
    if (patched_to_) taken.push_back(*patched_to_);
    std::sort(taken.begin(), taken.end());
    SwitchCandidates added;
    for (const auto& exchange : unowned_) {
      const auto behind = std::upper_bound(taken.begin(), taken.end(), exchange.save);
      if (behind == taken.begin()) continue;
      const auto entry = *std::prev(behind);
      if (entry < before(exchange.save, entry_reach) || candidates_.contains(entry)) continue;
      if (code_.bytes(entry, 1).empty()) continue;
      if (added.size() == most_candidates) break;
      auto& candidate = added[entry];
      if (candidate.exchanges.empty())
        candidate.evidence.push_back("code takes the address of this place");
      candidate.exchanges.push_back(exchange);
    }
    for (const auto& [entry, candidate] : added) evaluate(entry, candidate);
  }

  // Where the symbols name one place, another that looks alike is worth no more than a mention.
  void let_symbol_win() {
    for (auto& found : result_.candidates) {
      if (!symbol_ || found.rva == *symbol_ || found.name != "SwapContext") continue;
      found.confidence = Confidence::low;
      found.evidence.push_back(
          fmt::format("but the symbols say that SwapContext is at rva {:#x}", value(*symbol_)));
    }
  }

  // The one SwapContext, or the one that the symbols name.
  ContextSwitch* find_plain() {
    ContextSwitch* plain = nullptr;
    for (auto& found : result_.candidates) {
      if (found.name != "SwapContext" || (symbol_ && found.rva != *symbol_)) continue;
      if (plain != nullptr) return nullptr;
      plain = &found;
    }
    return plain;
  }

  // A second context switch that has callers of its own needs no patch to be reached.
  void set_conditions() {
    auto* const plain = find_plain();
    if (plain == nullptr) return;
    plain->condition = SwitchCondition::always;
    for (auto& found : result_.candidates) {
      if (found.name == "SwapContext") continue;
      const bool called = !found.callers.empty();
      found.condition = called ? SwitchCondition::always : SwitchCondition::when_patched;
      if (!called) plain->condition = SwitchCondition::unless_patched;
    }
  }

  void summarize() {
    let_symbol_win();
    set_conditions();
    for (const auto& exchange : unowned_)
      near_misses_.push_back(
          fmt::format("rva {:#x} exchanges the stack pointer at offset {:#x} of a thread, but "
                      "nothing calls a place before it",
                      value(exchange.save), exchange.offset));
    const auto plain =
        std::count_if(result_.candidates.begin(), result_.candidates.end(),
                      [](const ContextSwitch& found) { return found.name == "SwapContext"; });
    auto& reasons = result_.reasons;
    reasons.push_back(
        fmt::format("the stack pointer is saved and loaded at the same offset of a thread at {}",
                    core::counted(exchanges_.size(), "place", "places")));
    if (!code_.is_x64() && !dispatcher_)
      reasons.push_back("KiDispatchInterrupt, which calls the context switch, is not exported");
    if (near_misses_.size() > most_near_misses) near_misses_.resize(most_near_misses);
    reasons.insert(reasons.end(), near_misses_.begin(), near_misses_.end());
    if (plain == 1) {
      reasons.clear();
    } else if (plain > 1 && symbol_) {
      reasons = {
          fmt::format("{} places look like SwapContext; the symbols name the one at rva {:#x}",
                      plain, value(*symbol_))};
    } else if (plain > 1) {
      reasons = {fmt::format("{} places could be SwapContext", plain)};
      result_.findings.warning("context-switch-ambiguous", result_.candidates.front().file_offset,
                               "{} places could be SwapContext", plain);
    } else {
      result_.findings.warning(
          "context-switch-not-found", std::nullopt,
          "neither publications, nor signatures, nor structure identify SwapContext");
    }
    for (const auto& found : result_.candidates)
      if (!found.verified)
        result_.findings.info(
            "context-switch-unverified", found.file_offset,
            "the way {} is recognised has not been confirmed on a real kernel of this version",
            found.name);
  }

  KernelCode code_;
  Disassembler disassembler_;
  SwitchCandidates candidates_;
  std::vector<StackExchange> exchanges_;
  std::vector<DirectBranch> branches_;
  std::optional<pe::Rva> dispatcher_;
  std::optional<pe::Rva> patched_to_;  // by Windows itself
  std::optional<pe::Rva> symbol_;      // where the symbols say it is
  std::vector<StackExchange> unowned_;
  std::vector<std::string> near_misses_;
  std::vector<bool> named_;  // of each candidate: a symbol or a signature speaks for it
  ContextSwitchSearch result_;
};

}  // namespace

std::string_view to_string(SwitchCondition condition) {
  switch (condition) {
    case SwitchCondition::unknown:
      return "unknown";
    case SwitchCondition::always:
      return "always";
    case SwitchCondition::unless_patched:
      return "unless_patched";
    case SwitchCondition::when_patched:
      return "when_patched";
  }
  return "unknown";
}

std::string_view explain(SwitchCondition condition) {
  switch (condition) {
    case SwitchCondition::unknown:
      return "it is not known whether threads are switched here: hook nothing";
    case SwitchCondition::always:
      return "threads are switched here whenever it is called";
    case SwitchCondition::unless_patched:
      return "threads are switched here unless its first bytes in memory are EB F9, with which "
             "Windows redirects to the other one under Hyper-V";
    case SwitchCondition::when_patched:
      return "threads are switched here when the first bytes of SwapContext in memory are EB F9, "
             "and "
             "the jump in the five bytes before it leads here, as Windows patches it under Hyper-V";
  }
  return {};
}

ContextSwitchSearch find_context_switch(const pe::ImageTables& tables,
                                        const std::vector<NamedPlace>& symbols) {
  const auto machine = tables.image().machine();
  if (!Disassembler::supports(machine)) {
    ContextSwitchSearch search;
    search.reasons.push_back(
        fmt::format("the context switch of {} kernels is not known", pe::to_string(machine)));
    search.findings.warning("context-switch-not-found", std::nullopt, "{}", search.reasons.front());
    return search;
  }
  auto search = Search{tables, symbols}.run();
  core::note_unreadable(tables.image().file(), search.findings);
  return search;
}

}  // namespace coldtrace::syscall_map
