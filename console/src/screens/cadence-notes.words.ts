import { words } from "../words";

export const say = words("screens/cadence-notes", {
  surprises: "What may surprise",
  opinion: "Second opinion",
  six_fields:
    "Six fields begin with the second. If this is EventBridge's, which begin with the minute " +
    "and end with the year, write {written}",
  numbers:
    "In day-of-week {written} Sunday is 0 or 7 and Monday 1. Quartz and EventBridge count " +
    "from Sunday 1; names are the same everywhere.",
  minutes: {
    one:
      "{written} restarts each hour: from minute {last} to the next {first} it is one minute. " +
      "{even} is even.",
    other:
      "{written} restarts each hour: from minute {last} to the next {first} it is {n} minutes. " +
      "{even} is even.",
  },
  hours: {
    one: "{written} restarts each day: from hour {last} to the next {first} it is one hour. {even} is even.",
    other:
      "{written} restarts each day: from hour {last} to the next {first} it is {n} hours. {even} is even.",
  },
  each_minute: "Minute * runs in each minute of the hour. To run once in it, write {once}",
  each_second: "Second * runs in each second of the minute. To run once in it, write {once}",
  days: "{written} restarts on the 1st of each month. {even} is even.",
  months: {
    one: "Month {written} restarts each year: from month {last} to the next 1 it is one month.",
    other: "Month {written} restarts each year: from month {last} to the next 1 it is {n} months.",
  },
  weekdays: {
    one:
      "Day-of-week {written} restarts each Sunday: from day {last} to the next 0 it is one " +
      "day. Name the weekdays, as in MON,WED,FRI.",
    other:
      "Day-of-week {written} restarts each Sunday: from day {last} to the next 0 it is {n} " +
      "days. Name the weekdays, as in MON,WED,FRI.",
  },
  wraps: "{field} {written} is {low} and later, and up to {high}. For those between, write {high}-{low}.",
  alone: "{field} {written} is {low} alone, since its step is longer than its range.",
  dates:
    "A month without a day {day} is passed over. L is the last day of each, and " +
    'monthly("{day}-or-last", ...) that of those.',
  some_dates:
    "A month without a day {day} has no run for it. L is the last day of each, and " +
    'monthly("{day}-or-last", ...) that of those.',
  late: "Its next run is on {day}, since what it combines seldom comes together: check it.",
  ending:
    "The dates of the calendar {name} end on {day}. Later days have no holidays: deploy with further years.",
  needless: "except_at {written} excludes nothing: it is no time of the cadence.",
  agrees: "croniter agrees, changes of the clocks aside",
  disagrees: "croniter disagrees",
  not_nearest: "Not asked: croniter does not know W and L-n",
  not_beside: "Not asked: croniter reads the L and # of a weekday rightly only where they stand alone",
  not_step: "Not asked: croniter ends FRI/2 on Saturday, where day 7 is still to come",
  not_range: "Not asked: croniter reads a range that wraps, or has one value, as another",
});
