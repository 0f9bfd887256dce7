// Writes traces of waits that no machine has, into the folder named by the first argument.

#include "tests/cli/trace/ctrace_file.hpp"

using namespace coldtrace;
using test::CtraceFile;
using tracefile::CtraceData;

namespace {

// Of vtrace.schema.
constexpr u16 wait_begin = 0x0110;

// Of wmk.schema, with what all waits here have in common: the process 8, mutants.
class Waits {
 public:
  void begins(u32 thread, u64 mutant) {
    file_.log(0x0205, of(thread, mutant).u8(6));  // UserRequest
  }
  void ends(u32 thread, u64 mutant, u32 status = 0) {
    file_.log(0x0206, of(thread, mutant).u32(status));
  }
  void takes(u32 thread, u64 mutant) {
    begins(thread, mutant);
    ends(thread, mutant);
  }
  // The processor goes to its idle thread, or comes from it.
  void leaves(u32 thread) { switches(thread, 0, 5); }
  void comes(u32 thread) { switches(0, thread, 2); }
  void waits(u32 thread, u64 mutant) {
    begins(thread, mutant);
    leaves(thread);
  }
  void save(const std::filesystem::path& path) { file_.save(path); }

 private:
  static CtraceData of(u32 thread, u64 mutant) {
    CtraceData data;
    return data.u32(8).u32(thread).word(0).word(mutant).u8(2);
  }
  void switches(u32 from, u32 to, u8 state) {
    file_.log(0x0204, CtraceData{}.u32(8).u32(from).u32(8).u32(to).u8(state).u8(6).u8(8).u8(8));
  }

  CtraceFile file_{"wmk"};
};

constexpr u32 timeout = 0x102;

// Two cycles: one that a timeout breaks, one that is gone before its second thread left its
// processor. Both threads take the mutants in an order of their own.
void write_broken(const std::filesystem::path& path) {
  Waits trace;
  trace.comes(12);
  trace.takes(12, 0x1000);
  trace.leaves(12);
  trace.comes(16);
  trace.takes(16, 0x2000);
  trace.waits(16, 0x1000);
  trace.comes(12);
  trace.waits(12, 0x2000);
  trace.ends(16, 0x1000, timeout);
  trace.comes(16);
  trace.begins(16, 0x1000);
  trace.ends(16, 0x1000);
  trace.save(path);
}

// Each of 1,100 threads waits for the next one, and the last one for the first.
void write_long_chain(const std::filesystem::path& path) {
  Waits trace;
  constexpr u32 threads = 1100;
  const auto mutant = [](u32 number) { return 0x1000 + u64{number} * 16; };
  for (u32 i = 0; i < threads; ++i) trace.takes(100 + 4 * i, mutant(i));
  for (u32 i = threads; i-- > 0;) trace.waits(100 + 4 * i, mutant((i + 1) % threads));
  trace.save(path);
}

// More objects than are kept: 64 in each wait.
void write_many_objects(const std::filesystem::path& path) {
  CtraceFile file{"vtrace"};
  constexpr u64 objects = (1 << 18) + 64;
  for (u64 object = 0; object < objects;) {
    CtraceData data;
    data.u32(8).u32(12).u8(6).u8(1).u8(64);
    for (unsigned i = 0; i < 64; ++i, ++object) data.u8(2).word(0x1000 + 16 * object);
    file.log(wait_begin, data.u64(0));
  }
  file.save(path);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::filesystem::path folder{argv[1]};
  write_broken(folder / "broken.ctrace");
  write_long_chain(folder / "long-chain.ctrace");
  write_many_objects(folder / "many-objects.ctrace");
}
