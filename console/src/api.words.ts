import { words } from "./words";

export const say = words("api", {
  garbage: "The response ({status}) is not one of the API. A proxy may have answered in its place.",
  late: "There was no response within {n} s.",
  late_change:
    "There was no response within {n} s. The change may have been made: look before you repeat it.",
});
