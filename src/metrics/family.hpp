#pragma once

#include <map>
#include <string>
#include <string_view>

namespace oyat::metrics {

// One metric in the text format 0.0.4 of Prometheus, with at most one label of at most 128 values: what comes
// after them is counted under "other", so that nobody can fill our memory with label values.
class Family {
public:
    enum class Kind { counter, gauge };
    Family(Kind kind, std::string name, std::string help, std::string label = {});

    void add(std::string_view label_value, double amount) { slot(label_value) += amount; }
    void set(std::string_view label_value, double value) { slot(label_value) = value; }
    void clear() { values_.clear(); }
    void append_to(std::string& text) const;

private:
    double& slot(std::string_view label_value);

    Kind kind_;
    std::string name_;
    std::string help_;
    std::string label_;
    std::map<std::string, double, std::less<>> values_;
};

}  // namespace oyat::metrics
