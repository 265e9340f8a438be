import { Page } from "../ui/page";

export function DeadLettersScreen() {
  return <Page title="DeadLetters">…</Page>;
}
