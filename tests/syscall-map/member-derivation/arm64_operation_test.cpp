#include <catch2/catch.hpp>

#include "syscall-map/member-derivation/known_prototypes.hpp"
#include "syscall-map/member-derivation/operation_reader.hpp"

using namespace coldtrace;
using namespace coldtrace::syscall_map;

// Words as llvm-mc encodes them.
TEST_CASE("instructions of ARM64 are read as what they do to pointers") {
  using Effect = Operation::Effect;
  using Flow = Operation::Flow;
  struct Row {
    const char* text;
    u32 word;
    Effect effect;
    Flow flow;
    u8 to, from;
    i64 displacement;
  };
  constexpr auto none = Operation::no_register;
  const auto row = GENERATE(values<Row>({
      {"mov x0, x1", 0xaa0103e0, Effect::copy, Flow::next, 0, 1, 0},
      {"ldr x8, [x18, #0x988]", 0xf944c648, Effect::load, Flow::next, 8, 18, 0x988},
      {"add x0, x19, #0x30", 0x9100c260, Effect::address, Flow::next, 0, 19, 0x30},
      {"ret", 0xd65f03c0, Effect::none, Flow::end, none, none, 0},
      {"nop", 0xd503201f, Effect::none, Flow::next, none, none, 0},
  }));
  CAPTURE(row.text);
  const auto operation = read_arm64_operation(pe::Rva{0x1000}, row.word);
  CHECK(operation.length == 4);
  CHECK(operation.end() == pe::Rva{0x1004});
  CHECK(operation.effect == row.effect);
  CHECK(operation.flow == row.flow);
  if (row.to != none) {
    CHECK(operation.to == row.to);
    CHECK(operation.from == row.from);
    CHECK(operation.displacement == row.displacement);
    CHECK((operation.written >> row.to & 1) == 1);
  }
}

TEST_CASE("branches of ARM64 lead where their distance says") {
  const auto call = read_arm64_operation(pe::Rva{0x1000}, 0x94000010);  // bl +0x40
  CHECK(call.flow == Operation::Flow::call);
  CHECK(call.target == pe::Rva{0x1040});
  const auto back = read_arm64_operation(pe::Rva{0x1000}, 0x17ffffff);  // b -4
  CHECK(back.flow == Operation::Flow::jump);
  CHECK(back.target == pe::Rva{0xffc});
  const auto zero = read_arm64_operation(pe::Rva{0x1000}, 0xb4000040);  // cbz x0, +8
  CHECK(zero.flow == Operation::Flow::conditional);
  CHECK(zero.target == pe::Rva{0x1008});
}

TEST_CASE("functions take pointers to what documents say, and of others nothing is known") {
  const auto process = known_argument("PsGetProcessId");
  REQUIRE(process);
  CHECK(process->number == 0);
  CHECK(process->structure == "_EPROCESS");
  CHECK_FALSE(known_argument("NoSuchFunction"));
  CHECK(known_result("NoSuchFunction").empty());
}
