# Two answers of /v1/prompt-metrics -> a suite for /v1/suites: one case a query, and its number as a run scored before.
#
#   jq -n --arg number pair_agreement --slurpfile a a.json --slurpfile b b.json -f compare.jq
def runs: .[0].interactions | map({(.qa_id): [.[$number] | if . == null then {error: "null"} else {score: .} end]}) | add;

{
  name: $number,
  cases: [$a, $b | .[0].interactions[].qa_id] | unique | map({id: .}),
  versions: [{version: "a", outputs: ($a | runs)}, {version: "b", outputs: ($b | runs)}]
}
