import { words } from "../words";

export const say = words("screens/load", {
  title: "Next week's load",
  intro: "How many jobs begin in the fullest minute of each hour, by their cadences and pauses.",
  aside: "Runs by events and by hand, retries and one-shot actions are not in it.",
  jobs: "Jobs counted",
  all: "all",
  part: "the first by name; the others are not in it",
  capacity: "Jobs that may begin in a minute",
  capacity_hint: "As many as a worker handles at once, if a run lasts a minute.",
  minutes_over: "Minutes with more",
  chart: "The fullest minute of each hour",
  gist: {
    one: "{n} hour with a job; at most {most} in a minute; the limit is {limit}",
    other: "{n} hours with jobs; at most {most} in a minute; the limit is {limit}",
  },
  bar: { one: "{at}: {n} job", other: "{at}: {n} jobs" },
  limit: "limit {n}",
  crowds: "Jobs that begin in the same minute",
  none: "No two jobs begin in the same minute",
  at: "First minute",
  begin: "Jobs",
  times: "Minutes with the same jobs",
  over: "Beyond the limit",
  names: "Which",
  others: "and {n} more",
  remedy: "To spread jobs, give them other minutes or a spread; duetime app check --storm proposes minutes.",
});
