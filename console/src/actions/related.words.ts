import { words } from "../words";

export const say = words("actions/related", {
  same_id: "Of the same correlation id",
  all_of_id: "Show all",
  before: "Runs of its job before it",
  the_job: "The job",
  none: "None was found",
});
