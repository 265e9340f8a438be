import { words } from "../words";

export const say = words("ui/copy-commands", { cli: "Copy as CLI", curl: "Copy as curl" });
