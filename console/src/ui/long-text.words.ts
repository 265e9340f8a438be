import { words } from "../words";

export const say = words("ui/long-text", { all: "Show all {n} characters", copy: "Copy all" });
