// fmt, compiled once and into the program: Debian's shared library brings a shared libstdc++ along,
// which costs each start of the program, and fmt as headers alone costs each source file two
// seconds.
#include <fmt/format-inl.h>

namespace fmt {
inline namespace v9 {
namespace detail {

// What fmt/format.h declares to be instantiated elsewhere.
template auto thousands_sep_impl(locale_ref) -> thousands_sep_result<char>;
template auto decimal_point_impl(locale_ref) -> char;
template void vformat_to(buffer<char>&, string_view, format_args, locale_ref);

}  // namespace detail
}  // namespace v9
}  // namespace fmt
