import { words } from "../words";

export const mine = words("charts/trend", {
  hours: {
    one: "At most {most} in an hour, since {from}",
    other: "At most {most} in {n} hours, since {from}",
  },
  days: { one: "At most {most} in a day, since {from}", other: "At most {most} in {n} days, since {from}" },
});
