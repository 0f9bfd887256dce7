#include "syscall-map/member-derivation/pointer_flow.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "syscall-map/member-derivation/known_prototypes.hpp"

namespace coldtrace::syscall_map {
namespace {

constexpr std::size_t most_stack_places = 48;
constexpr i64 farthest = i64{1} << 30;
constexpr u32 most_visits = 16;  // of one operation, on average

struct Held {
  enum class Kind : u8 { unknown, pointer, stack };
  Kind kind = Kind::unknown;
  u32 structure = 0;
  i64 added = 0;  // for the stack, bytes above where it was at the entry

  bool operator==(const Held&) const = default;
};

struct State {
  std::array<Held, Operation::registers> registers;
  std::vector<std::pair<i64, Held>> stack;  // ascending; those that are known

  const Held* find(i64 at) const {
    const auto place = std::ranges::lower_bound(stack, at, {}, &std::pair<i64, Held>::first);
    return place != stack.end() && place->first == at ? &place->second : nullptr;
  }

  void put(i64 at, const Held& held) {
    const auto place = std::ranges::lower_bound(stack, at, {}, &std::pair<i64, Held>::first);
    const bool there = place != stack.end() && place->first == at;
    if (held.kind == Held::Kind::unknown) {
      if (there) stack.erase(place);
    } else if (there) {
      place->second = held;
    } else if (stack.size() < most_stack_places) {
      stack.emplace(place, at, held);
    }
  }

  // Whether anything was lost.
  bool meet(const State& other) {
    bool changed = false;
    for (std::size_t i = 0; i < registers.size(); ++i)
      if (registers[i] != other.registers[i] && registers[i].kind != Held::Kind::unknown) {
        registers[i] = {};
        changed = true;
      }
    const auto lost = std::erase_if(stack, [&](const auto& place) {
      const auto* const held = other.find(place.first);
      return !held || *held != place.second;
    });
    return changed || lost > 0;
  }
};

Held moved(Held held, i64 distance) {
  if (held.kind == Held::Kind::unknown || distance > farthest || distance < -farthest) return {};
  held.added += distance;
  if (held.added > farthest || held.added < -farthest) return {};
  return held;
}

class Flow {
 public:
  Flow(const FunctionCode& function, const FlowSurroundings& around)
      : function_{function},
        around_{around},
        reader_{around.functions->reader()},
        states_(function.operations.size()) {}

  void run(const ArgumentTypes& arguments, pe::Rva entry) {
    const auto start = function_.find(entry);
    if (!start) return;
    states_[*start] = at_entry(arguments);
    std::vector<std::size_t> waiting{*start};
    auto left = most_visits * function_.operations.size();
    while (!waiting.empty() && left-- > 0) {
      const auto at = waiting.back();
      waiting.pop_back();
      auto state = *states_[at];
      const auto& operation = function_.operations[at];
      step(state, operation);
      using Kind = Operation::Flow;
      if (operation.target && (operation.flow == Kind::conditional || operation.flow == Kind::jump))
        pass(state, *operation.target, waiting);
      if (operation.flow != Kind::end && operation.flow != Kind::jump)
        pass(state, operation.end(), waiting);
    }
    whole_ = waiting.empty();
  }

  void tell(const FlowVisitor& visitor) const {
    if (!whole_) return;
    for (std::size_t i = 0; i < states_.size(); ++i) {
      if (!states_[i]) continue;
      const auto& operation = function_.operations[i];
      if (operation.uses_memory) {
        const auto& base = states_[i]->registers[operation.from];
        if (base.kind == Held::Kind::pointer && base.added == 0) visitor.use(i, base.structure);
      }
      const bool call = operation.flow == Operation::Flow::call;
      if (operation.target && (call || function_.leaves(operation)))
        visitor.call(*operation.target, passed(*states_[i], !call));
    }
  }

 private:
  std::size_t stack_pointer() const { return reader_.stack_pointer(); }
  bool stack_arguments() const { return reader_.pointer_size() == 4; }

  State at_entry(const ArgumentTypes& arguments) const {
    State state;
    state.registers[stack_pointer()].kind = Held::Kind::stack;
    const auto region = around_.layout->find("_KPCR");
    const bool arm = reader_.image().machine() == pe::Machine::arm64;
    constexpr std::size_t arm64_region = 18;
    if (region)
      state.registers[arm ? arm64_region : std::size_t{Operation::control_region}] = {
          Held::Kind::pointer, *region, 0};
    const auto in_registers = reader_.arguments();
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (!arguments[i]) continue;
      const Held held{Held::Kind::pointer, *arguments[i], 0};
      if (i < in_registers.size())
        state.registers[in_registers[i]] = held;
      else if (stack_arguments())
        state.put(static_cast<i64>(4 + 4 * (i - in_registers.size())), held);
    }
    return state;
  }

  // What a callee finds; a jump leaves the return address where it is.
  ArgumentTypes passed(const State& state, bool jump) const {
    ArgumentTypes types;
    const auto take = [&](std::size_t number, const Held& held) {
      if (held.kind == Held::Kind::pointer && held.added == 0) types[number] = held.structure;
    };
    const auto in_registers = reader_.arguments();
    for (std::size_t i = 0; i < in_registers.size(); ++i) take(i, state.registers[in_registers[i]]);
    const auto& top = state.registers[stack_pointer()];
    if (stack_arguments() && top.kind == Held::Kind::stack)
      for (std::size_t i = in_registers.size(); i < types.size(); ++i) {
        const auto at = static_cast<i64>(4 * (i - in_registers.size())) + (jump ? 4 : 0);
        if (const auto* const held = state.find(top.added + at)) take(i, *held);
      }
    return types;
  }

  void pass(const State& state, pe::Rva to, std::vector<std::size_t>& waiting) {
    const auto at = function_.find(to);
    if (!at) return;
    auto& there = states_[*at];
    if (!there)
      there = state;
    else if (!there->meet(state))
      return;
    waiting.push_back(*at);
  }

  void step(State& state, const Operation& operation) const {
    using Effect = Operation::Effect;
    auto& registers = state.registers;
    auto& top = registers[stack_pointer()];
    if (operation.flow == Operation::Flow::call) return call(state, operation);
    Held result;
    switch (operation.effect) {
      case Effect::copy:
        result = registers[operation.from];
        break;
      case Effect::address:
        result = moved(registers[operation.from], operation.displacement);
        if (result.kind == Held::Kind::stack && operation.to != stack_pointer())
          give_away(state, result.added);
        break;
      case Effect::load:
        result = loaded(state, operation);
        break;
      case Effect::store:
        store(state, operation);
        break;
      case Effect::push:
        push(state, operation);
        return;
      case Effect::pop:
        result = top.kind == Held::Kind::stack && state.find(top.added) ? *state.find(top.added)
                                                                        : Held{};
        top = moved(top, reader_.pointer_size());
        clear(state, operation.written & ~(u64{1} << stack_pointer()));
        if (operation.to != Operation::no_register) registers[operation.to] = result;
        return;
      case Effect::leave:
        return leave(state);
      case Effect::none:
        break;
    }
    clear(state, operation.written);
    if (operation.to != Operation::no_register) registers[operation.to] = result;
  }

  static void clear(State& state, u64 written) {
    for (std::size_t i = 0; i < state.registers.size(); ++i)
      if ((written >> i & 1) != 0) state.registers[i] = {};
  }

  Held loaded(const State& state, const Operation& operation) const {
    std::optional<u32> to;
    if (operation.place && !operation.uses_memory) {
      const auto pointer = known_pointer(around_.name_of(*operation.place));
      if (!pointer.empty()) to = around_.layout->find(pointer);
    } else if (operation.uses_memory) {
      const auto base = moved(state.registers[operation.from], operation.displacement);
      if (base.kind == Held::Kind::stack) {
        const auto* const held = state.find(base.added);
        return held ? *held : Held{};
      }
      if (base.kind == Held::Kind::pointer)
        to = around_.layout->pointee(base.structure, base.added);
    }
    return to ? Held{Held::Kind::pointer, *to, 0} : Held{};
  }

  static void store(State& state, const Operation& operation) {
    const auto base = moved(state.registers[operation.from], operation.displacement);
    if (base.kind != Held::Kind::stack) return;
    state.put(base.added, operation.stored != Operation::no_register
                              ? state.registers[operation.stored]
                              : Held{});
  }

  // Who has the address of a place of the stack may write there.
  static void give_away(State& state, i64 from) {
    constexpr i64 reach = 64;
    std::erase_if(state.stack, [&](const auto& place) {
      return place.first >= from && place.first < from + reach;
    });
  }

  void push(State& state, const Operation& operation) const {
    auto& top = state.registers[stack_pointer()];
    const auto held =
        operation.stored != Operation::no_register ? state.registers[operation.stored] : Held{};
    top = moved(top, -i64{reader_.pointer_size()});
    if (top.kind == Held::Kind::stack) state.put(top.added, held);
  }

  void leave(State& state) const {
    constexpr std::size_t frame_pointer = 5;
    auto& top = state.registers[stack_pointer()];
    auto& frame = state.registers[frame_pointer];
    top = frame;
    const auto* const held = top.kind == Held::Kind::stack ? state.find(top.added) : nullptr;
    frame = held ? *held : Held{};
    top = moved(top, reader_.pointer_size());
  }

  void call(State& state, const Operation& operation) const {
    auto& top = state.registers[stack_pointer()];
    clear(state, reader_.volatile_registers());
    if (!stack_arguments()) {
      // nothing else: the callee gives the stack back as it was
    } else if (operation.target) {
      top = moved(top, around_.functions->at(*operation.target).popped);
    } else {
      top = {};
    }
    if (!operation.target) return;
    const auto result = known_result(around_.name_of(*operation.target));
    if (result.empty()) return;
    if (const auto to = around_.layout->find(result))
      state.registers[reader_.result()] = {Held::Kind::pointer, *to, 0};
  }

  const FunctionCode& function_;
  const FlowSurroundings& around_;
  const OperationReader& reader_;
  std::vector<std::optional<State>> states_;
  bool whole_ = false;
};

}  // namespace

std::size_t argument_place(const OperationReader& reader, u32 number) {
  return reader.pointer_size() == 4 ? reader.arguments().size() + number : number;
}

void follow_pointers(const FunctionCode& function, pe::Rva entry, const ArgumentTypes& arguments,
                     const FlowSurroundings& surroundings, const FlowVisitor& visitor) {
  Flow flow{function, surroundings};
  flow.run(arguments, entry);
  flow.tell(visitor);
}

}  // namespace coldtrace::syscall_map
