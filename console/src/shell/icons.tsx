/** Icons of the navigation links. */
const PATHS = {
  question: 'M9 9a3 3 0 1 1 4.5 2.6c-.9.6-1.5 1.1-1.5 2.4M12 17.5v.01M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18Z',
  groups:
    'M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7ZM2.5 20c0-3.6 2.9-6 6.5-6s6.5 2.4 6.5 6M16 4.5a3.5 3.5 0 0 1 0 6.2M18 14.5c2.1.8 3.5 2.8 3.5 5.5',
  model: 'M8 3.5h8v5H8zM2.5 15.5h7v5h-7zM14.5 15.5h7v5h-7zM12 8.5V12M6 15.5V12h12v3.5',
  access: 'M12 3l8 3v6c0 4.5-3.2 7.7-8 9-4.8-1.3-8-4.5-8-9V6zM8.5 12l2.5 2.5 4.5-5',
  audit: 'M6 3h9l4 4v14H6zM9.5 12h6M9.5 16h6M14.5 3v4.5H19',
  operations: 'M3 12h4l2.5-7 5 14 2.5-7h4',
  members:
    'M4 5h16v14H4zM9.5 12a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM6.5 16c0-1.7 1.3-2.7 3-2.7s3 1 3 2.7M15 10h2.5M15 14h2.5',
  key: 'M14.5 9.5a4.5 4.5 0 1 0-3.6 4.4L13 16h2v2h2v2h3.5v-3.6l-6.3-6.3c.2-.2.3-.4.3-.6ZM8 8v.01',
} as const

export type IconName = keyof typeof PATHS

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg
      width="20"
      height="20"
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.8"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  )
}
