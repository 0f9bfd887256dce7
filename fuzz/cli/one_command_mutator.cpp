// What the fuzzer makes of an input of ChosenCommands runs one command.

#include <cstddef>
#include <cstdint>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  size = LLVMFuzzerMutate(data, size, most);
  if (size == 0) return size;
  auto& choice = data[size - 1];
  if (choice == 0 || choice == 0xff) choice = static_cast<std::uint8_t>(1 + seed % 0xfe);
  return size;
}
