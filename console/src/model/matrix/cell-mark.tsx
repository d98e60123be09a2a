/**
 * Mark for a permission of a role. A tick in a filled box: the role has the permission. An arrow in a dashed
 * box: another role grants it. An empty box: the role does not have it.
 */
export function CellMark({
  isDirect,
  isInherited,
}: {
  readonly isDirect: boolean
  readonly isInherited: boolean
}) {
  return (
    <svg
      className={`cell-mark ${isDirect ? 'direct' : isInherited ? 'inherited' : ''}`}
      width="22"
      height="22"
      viewBox="0 0 22 22"
      aria-hidden="true"
    >
      <rect x="2" y="2" width="18" height="18" rx="4.5" />
      {isDirect ? (
        <path d="M6.5 11.5l3 3 6-7" />
      ) : isInherited ? (
        <path d="M7 6.5v5h8M12 8l3.5 3.5L12 15" />
      ) : null}
    </svg>
  )
}
