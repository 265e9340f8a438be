import { words } from "./words";

export const say = words("time", { in: "in {span}", ago: "{span} ago", now: "now", ms: "{n} ms" });
