// Measures Google's robots.txt parser and matcher, and returns its verdicts. It is
// compiled against a checkout of Google's library. The library is not part of this
// repository.
//
// Commands come on standard input. The driver answers each with one line:
//
//	file BYTES, then so many bytes: the robots.txt for the following commands
//	agent BYTES, then so many bytes: the crawler for the following commands
//	urls COUNT, then for each BYTES and so many bytes: the URLs to fetch
//	ask: 1 if the crawler may fetch the first URL, else 0
//	scan NANOSECONDS: parses the file repeatedly for that CPU time with a handler
//	    that counts; prints the nanoseconds of CPU time per operation and the
//	    number of rules
//	verdict NANOSECONDS: evaluates the URLs in turn; prints the nanoseconds per
//	    operation and how many were allowed

#include <time.h>

#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "robots.h"

namespace {

// The CPU time of this process in nanoseconds.
int64_t Computed() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return int64_t{t.tv_sec} * 1000000000 + t.tv_nsec;
}

class Counter : public googlebot::RobotsParseHandler {
 public:
  int64_t rules = 0;

  void HandleRobotsStart() override {}
  void HandleRobotsEnd() override {}
  void HandleUserAgent(int, absl::string_view) override {}
  void HandleAllow(int, absl::string_view) override { rules++; }
  void HandleDisallow(int, absl::string_view) override { rules++; }
  void HandleSitemap(int, absl::string_view) override {}
  void HandleUnknownAction(int, absl::string_view,
                           absl::string_view) override {}
};

std::string ReadBytes() {
  size_t n = 0;
  std::cin >> n;
  std::cin.get(); // the end of the line
  std::string bytes(n, 0);
  std::cin.read(&bytes[0], n);
  return bytes;
}

// Repeats an operation for the requested CPU time and prints the time per operation.
// The number of operations between two looks at the clock doubles each time.
template <typename Operation>
void Repeat(Operation operation) {
  int64_t duration = 0, done = 0, seen = 0, used = 0;
  std::cin >> duration;
  const int64_t start = Computed();
  for (int64_t batch = 1; used < duration; batch *= 2) {
    for (int64_t i = 0; i < batch; i++) seen += operation();
    done += batch;
    used = Computed() - start;
    // The last batch must not take much longer than the remaining time.
    while (batch > 1 && used + 2 * batch * (used / done) > duration * 5 / 4) {
      batch /= 2;
    }
  }
  std::cout << double(used) / double(done) << ' ' << seen << std::endl;
}

}  // namespace

int main() {
  std::ios::sync_with_stdio(false);
  std::string command, file, agent = "Googlebot";
  std::vector<std::string> urls = {"https://example.com/"};
  googlebot::RobotsMatcher matcher; // reused, as the library recommends
  while (std::cin >> command) {
    if (command == "file") {
      file = ReadBytes();
      std::cout << file.size() << std::endl;
    } else if (command == "agent") {
      agent = ReadBytes();
      std::cout << agent.size() << std::endl;
    } else if (command == "urls") {
      size_t count = 0;
      std::cin >> count;
      urls.clear();
      for (size_t i = 0; i < count; i++) urls.push_back(ReadBytes());
      std::cout << urls.size() << std::endl;
    } else if (command == "ask") {
      std::cout << matcher.OneAgentAllowedByRobots(file, agent, urls.at(0))
                << std::endl;
    } else if (command == "scan") {
      Repeat([&]() -> int64_t {
        Counter counter;
        googlebot::ParseRobotsTxt(file, &counter);
        return counter.rules;
      });
    } else if (command == "verdict") {
      size_t next = 0;
      Repeat([&]() -> int64_t {
        const std::string& url = urls[next];
        if (++next == urls.size()) next = 0;
        return matcher.OneAgentAllowedByRobots(file, agent, url);
      });
    } else {
      std::cerr << "no command " << command << std::endl;
      return 2;
    }
  }
}
