// Stands in for Abseil's.
#include <string_view>

namespace absl {
using std::string_view;
}
