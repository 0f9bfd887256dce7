#include "coldtrace/tracefile/fields/provider_names.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace coldtrace::tracefile {
namespace {

using Name = ProviderNames::Name;

struct Predefined {
  u64 number;
  std::string_view text;
};

constexpr Predefined predefined_levels[] = {{0, "LogAlways"}, {1, "Critical"},      {2, "Error"},
                                            {3, "Warning"},   {4, "Informational"}, {5, "Verbose"}};

constexpr Predefined predefined_opcodes[] = {
    {0, "Info"},  {1, "Start"},  {2, "Stop"},    {3, "DC_Start"}, {4, "DC_Stop"},  {5, "Extension"},
    {6, "Reply"}, {7, "Resume"}, {8, "Suspend"}, {9, "Send"},     {240, "Receive"}};

// Not 0, which events of no channel have.
constexpr Predefined predefined_channels[] = {{8, "System"},
                                              {9, "Application"},
                                              {10, "Security"},
                                              {11, "TraceLogging"},
                                              {12, "ProviderMetadata"}};

constexpr Predefined predefined_keywords[] = {
    {u64{1} << 48, "ResponseTime"},    {u64{1} << 49, "WDIContext"},
    {u64{1} << 50, "WDIDiag"},         {u64{1} << 51, "SQM"},
    {u64{1} << 52, "AuditFailure"},    {u64{1} << 53, "AuditSuccess"},
    {u64{1} << 54, "CorrelationHint"}, {u64{1} << 55, "EventlogClassic"}};

constexpr u64 bits_of_channels = u64{0xff} << 56;

std::string_view find(std::span<const Predefined> names, u64 number) {
  for (const auto& name : names)
    if (name.number == number) return name.text;
  return {};
}

// The first with the number that has a text.
std::string_view find(const std::vector<Name>& names, u64 number) {
  for (const auto& name : names)
    if (name.number == number && !name.text.empty()) return name.text;
  return {};
}

std::string_view first_of(std::string_view one, std::string_view other) {
  return one.empty() ? other : one;
}

}  // namespace

std::string_view ProviderNames::find_level(u8 level) const {
  return first_of(find(levels, level), find(predefined_levels, level));
}

std::string_view ProviderNames::find_task(u16 task) const {
  return find(tasks, task);
}

std::string_view ProviderNames::find_channel(u8 channel) const {
  return first_of(find(channels, channel), find(predefined_channels, channel));
}

std::string_view ProviderNames::find_opcode(u8 opcode, u16 task) const {
  const auto of_all = u64{opcode} << 16;
  const auto own = first_of(find(opcodes, of_all | task), find(opcodes, of_all));
  return first_of(own, find(predefined_opcodes, opcode));
}

std::vector<std::string_view> ProviderNames::find_keywords(u64 mask, u64& rest) const {
  std::vector<std::string_view> found;
  u64 left = mask;
  for (u64 bit = 1; bit != 0 && left != 0; bit <<= 1) {
    if ((left & bit) == 0) continue;
    left &= ~bit;
    const auto name = first_of(find(keywords, bit), find(predefined_keywords, bit));
    if (!name.empty())
      found.push_back(name);
    else
      rest |= bit & ~bits_of_channels;
  }
  return found;
}

void ProviderNames::merge(const ProviderNames& others) {
  constexpr std::size_t most = 4096;
  const auto add = [](std::vector<Name>& own, const std::vector<Name>& names) {
    for (const auto& name : names)
      if (own.size() < most && find(own, name.number).empty()) own.push_back(name);
  };
  add(levels, others.levels);
  add(tasks, others.tasks);
  add(channels, others.channels);
  add(keywords, others.keywords);
  add(opcodes, others.opcodes);
}

std::string_view without_prefix(std::string_view name) {
  constexpr std::string_view prefix = "win:";
  return name.substr(0, prefix.size()) == prefix ? name.substr(prefix.size()) : name;
}

}  // namespace coldtrace::tracefile
