#include "coldtrace/pdb/type_layers.hpp"

#include <fmt/format.h>

#include "coldtrace/core/text.hpp"

namespace coldtrace::pe {
namespace {

using Kind = TypeLayer::Kind;

constexpr u32 no_type = ~u32{0};

// Records refer to lower indexes alone: what does not is damage, and would go round.
u32 below(u32 type, u32 index) {
  return type < index ? type : no_type;
}

std::optional<u64> size_of_simple(const TypeTable& table, u32 index) {
  if (is_simple_pointer(index)) return size_of_simple_pointer(index, table.pointer_size());
  const auto* const simple = find_simple_type(index);
  return simple && simple->size != 0 ? std::optional<u64>{simple->size} : std::nullopt;
}

// Of what bit fields are in: an integer, or an enumeration, which is one.
std::optional<u64> size_of_integer(const TypeTable& table, u32 index) {
  auto type = table.unmodified(index);
  if (const auto* const record = table.find_record(type))
    if (auto enumeration = read_enumeration(*record)) {
      core::Findings ignored;  // of the search; commands tell of the type itself
      if (const auto found = table.find_definition(type, ignored))
        enumeration = read_enumeration(*table.find_record(*found));
      type = enumeration ? enumeration->underlying : no_type;
    }
  return type < first_record_index ? size_of_simple(table, type) : std::nullopt;
}

TypeLayer simple_layer(const TypeTable& table, u32 index) {
  TypeLayer layer{Kind::simple, index, size_of_simple(table, index)};
  layer.simple = find_simple_type(index);
  if (!is_simple_pointer(index)) return layer;
  layer.simple = nullptr;
  if (index == nullptr_index) return layer;
  layer.kind = Kind::pointer;
  layer.pointer.to = index & 0xff;
  layer.pointer.size = static_cast<u8>(layer.size.value_or(0));
  return layer;
}

std::optional<u64> size_of_definition(const TypeTable& table, u32 index) {
  if (const auto aggregate = read_aggregate(*table.find_record(index))) return aggregate->size;
  return size_of_integer(table, index);
}

TypeLayer named_layer(const TypeTable& table, u32 index, const TypeHead& head) {
  TypeLayer layer{Kind::named, index, {}};
  layer.named = head;
  core::Findings ignored;  // of the search; commands tell of the type itself
  const auto found = table.find_definition(index, ignored);
  if (!found) return layer;
  layer.size = size_of_definition(table, *found);
  layer.index = *found;
  if (*found != index) layer.named = read_type_head(*table.find_record(*found));
  return layer;
}

TypeLayer layer_of(const TypeTable& table, u32 index) {
  if (index < first_record_index) return simple_layer(table, index);
  TypeLayer layer{Kind::unknown, index, {}};
  const auto* const record = table.find_record(index);
  if (!record) return layer;
  if (const auto head = read_type_head(*record)) return named_layer(table, index, *head);
  if (const auto modifier = read_modifier(*record)) {
    layer.kind = Kind::modifier;
    layer.modifier = *modifier;
    layer.modifier.type = below(modifier->type, index);
  } else if (const auto pointer = read_pointer(*record)) {
    layer.kind = Kind::pointer;
    layer.pointer = *pointer;
    layer.pointer.to = below(pointer->to, index);
    if (pointer->size != 0) layer.size = pointer->size;
  } else if (const auto array = read_array(*record)) {
    layer.kind = Kind::array;
    layer.size = array->size;
    const auto element = size_of(table, below(array->element, index));
    if (element && *element != 0) layer.count = array->size / *element;
  } else if (const auto bits = read_bit_field(*record)) {
    layer.kind = Kind::bit_field;
    layer.bit_field = *bits;
    layer.bit_field.type = below(bits->type, index);
    layer.size = size_of(table, layer.bit_field.type);
  } else if (const auto function = read_function(*record)) {
    layer.kind = Kind::function;
    layer.function = *function;
  }
  return layer;
}

// What the layer is made of; nothing where it ends there.
std::optional<u32> inside(const TypeTable& table, const TypeLayer& layer) {
  switch (layer.kind) {
    case Kind::modifier:
      return layer.modifier.type;
    case Kind::pointer:
      return layer.pointer.to;
    case Kind::array:
      return below(read_array(*table.find_record(layer.index))->element, layer.index);
    case Kind::bit_field:
      return layer.bit_field.type;
    default:
      return std::nullopt;
  }
}

// Writes a type from the left to the right, up to a length.
class TypeWriter {
 public:
  explicit TypeWriter(const TypeTable& table) : table_{table} {}

  void write(u32 index, u32 level) {
    constexpr u32 most_levels = 8;  // of functions that take functions
    if (level == most_levels) return put("...");
    std::optional<u32> next = index;
    for (std::size_t count = 0; next && count < most_layers && !is_full(); ++count) {
      const auto layer = layer_of(table_, *next);
      write_layer(layer, level);
      if (layer.kind == Kind::bit_field) return;
      next = inside(table_, layer);
    }
  }

  std::string take() {
    if (is_full()) {
      text_.resize(longest_type_text);
      text_ += "...";
    }
    return std::move(text_);
  }

 private:
  bool is_full() const { return text_.size() > longest_type_text; }
  void put(std::string_view text) { text_ += text.substr(0, longest_type_text + 1); }

  void write_layer(const TypeLayer& layer, u32 level) {
    switch (layer.kind) {
      case Kind::modifier:
        if (layer.modifier.is_const) put("const ");
        if (layer.modifier.is_volatile) put("volatile ");
        if (layer.modifier.is_unaligned) put("unaligned ");
        return;
      case Kind::pointer:
        return write_pointer(layer.pointer);
      case Kind::array:
        return put(layer.count ? fmt::format("[{}] ", *layer.count) : "[?] ");
      case Kind::bit_field:
        return put(fmt::format("Pos {}, {}", layer.bit_field.position,
                               core::counted(layer.bit_field.length, "Bit", "Bits")));
      case Kind::function:
        if (layer.function.convention == unknown_convention) return put("function");
        return write_function(layer.function, layer.index, level);
      case Kind::named:
        return put(layer.named->name.empty() ? "<unnamed>" : layer.named->name);
      case Kind::simple:
        return put(layer.simple                   ? layer.simple->debugger
                   : layer.index == nullptr_index ? "nullptr_t"
                                                  : fmt::format("<type {:#x}>", layer.index));
      case Kind::unknown:
        return put(layer.index == no_type ? "<no type>" : fmt::format("<type {:#x}>", layer.index));
    }
  }

  void write_pointer(const Pointer& pointer) {
    using Mode = Pointer::Mode;
    if (pointer.is_const) put("const ");
    if (pointer.is_volatile) put("volatile ");
    const auto kind = pointer.mode == Mode::reference          ? "Ref"
                      : pointer.mode == Mode::rvalue_reference ? "RvalueRef"
                      : pointer.mode == Mode::data_member      ? "MemberPtr"
                      : pointer.mode == Mode::method           ? "MethodPtr"
                                                               : "Ptr";
    put(pointer.size != 0 ? fmt::format("{}{} ", kind, pointer.size * 8)
                          : fmt::format("{} ", kind));
  }

  void write_function(const Function& function, u32 index, u32 level) {
    write(below(function.returns, index), level + 1);
    put(" (");
    const auto list = below(function.arguments, index);
    const auto* const record = table_.find_record(list);
    const u32 count = record ? count_arguments(*record) : 0;
    for (u32 i = 0; i < count && !is_full(); ++i) {
      if (i > 0) put(", ");
      const auto argument = read_argument(*record, i).value_or(0);
      if (argument == 0)
        put("...");
      else
        write(below(argument, list), level + 1);
    }
    put(")");
  }

  const TypeTable& table_;
  std::string text_;
};

}  // namespace

std::vector<TypeLayer> layers_of(const TypeTable& table, u32 index) {
  std::vector<TypeLayer> layers;
  for (std::optional<u32> next = index; next && layers.size() < most_layers;) {
    layers.push_back(layer_of(table, *next));
    next = inside(table, layers.back());
  }
  // A modified type is as large as the type.
  for (auto at = layers.rbegin(); at != layers.rend(); ++at)
    if (at->kind == Kind::modifier && at != layers.rbegin()) at->size = (at - 1)->size;
  return layers;
}

std::optional<u64> size_of(const TypeTable& table, u32 index) {
  const auto unmodified = table.unmodified(index);
  if (unmodified < first_record_index) return size_of_simple(table, unmodified);
  const auto* record = table.find_record(unmodified);
  if (!record) return std::nullopt;
  if (const auto pointer = read_pointer(*record))
    return pointer->size != 0 ? std::optional<u64>{pointer->size} : std::nullopt;
  if (const auto array = read_array(*record)) return array->size;
  if (const auto bits = read_bit_field(*record)) return size_of_integer(table, bits->type);
  core::Findings ignored;  // of the search; commands tell of the type itself
  const auto found = table.find_definition(unmodified, ignored);
  return found ? size_of_definition(table, *found) : std::nullopt;
}

std::string to_text(const TypeTable& table, u32 index) {
  TypeWriter writer{table};
  writer.write(index, 0);
  return writer.take();
}

}  // namespace coldtrace::pe
