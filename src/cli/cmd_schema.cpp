// SPDX-License-Identifier: Apache-2.0
// schema: prints the JSON Schema of one of our formats.

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "formats/schemas.hpp"

namespace cordon::cli {
namespace {

class SchemaCommand final : public Command {
 public:
  void declare(Options& options) override { options.positional("FORMAT", format_, "one of " + format_names()); }

  int execute(const Invocation&) override {
    const auto known = formats::schemas();
    const auto found = std::ranges::find(known, std::string_view(format_), &formats::Schema::format);
    if (found == known.end()) {
      return usage_error(text::cat("schema needs one of ", format_names()));
    }
    print_out(found->text);
    return kFine;
  }

 private:
  static std::string format_names() {
    std::vector<std::string> names;
    for (const formats::Schema& schema : formats::schemas()) {
      names.emplace_back(schema.format);
    }
    return text::join(names, ", ");
  }

  std::string format_ = {};
};

}  // namespace

extern constinit const CommandEntry kSchemaCommand{"schema", "print the JSON Schema of a format", false,
                                                   make_command<SchemaCommand>};

}  // namespace cordon::cli
