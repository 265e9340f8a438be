// The pattern of what is wrong in a chart: it differs from the rest without colour, too.

export function Hatch({ id }: { id: string }) {
  return (
    <pattern id={id} width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
      <rect width="5" height="5" class="is-failed mark" />
      <line x1="0" x2="0" y1="0" y2="5" class="hatch" />
    </pattern>
  );
}
