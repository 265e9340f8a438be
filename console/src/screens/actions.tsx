import { Page } from "../ui/page";

export function ActionsScreen() {
  return <Page title="Actions">…</Page>;
}
