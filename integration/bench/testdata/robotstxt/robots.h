// Substitutes Google's library in a test of the driver. It has the same names. Its
// rules disallow only the exact path.
#include <string>

#include "absl/strings/string_view.h"

namespace googlebot {

class RobotsParseHandler {
 public:
  virtual ~RobotsParseHandler() = default;
  virtual void HandleRobotsStart() = 0;
  virtual void HandleRobotsEnd() = 0;
  virtual void HandleUserAgent(int line, absl::string_view value) = 0;
  virtual void HandleAllow(int line, absl::string_view value) = 0;
  virtual void HandleDisallow(int line, absl::string_view value) = 0;
  virtual void HandleSitemap(int line, absl::string_view value) = 0;
  virtual void HandleUnknownAction(int line, absl::string_view action,
                                   absl::string_view value) = 0;
};

void ParseRobotsTxt(absl::string_view text, RobotsParseHandler* handler);

class RobotsMatcher {
 public:
  bool OneAgentAllowedByRobots(absl::string_view text, const std::string& agent,
                               const std::string& url);
};

}  // namespace googlebot
