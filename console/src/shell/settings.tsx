/** User settings for this browser: language and color theme. */
import { useState } from 'react'
import { LANGUAGES, type Language } from '../texts/languages.ts'
import { useSpoken } from '../texts/texts.tsx'
import { chooseTheme, currentTheme, type Theme, THEMES } from './theme.ts'

export function Settings() {
  const { texts, language, choose } = useSpoken()
  const [theme, setTheme] = useState(currentTheme)
  return (
    <div className="row small">
      <select
        className="input setting"
        aria-label={texts.shell.language}
        value={language}
        onChange={event => choose(event.target.value as Language)}
      >
        {Object.entries(LANGUAGES).map(([id, { name }]) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
      <select
        className="input setting"
        aria-label={texts.shell.theme}
        value={theme}
        onChange={event => {
          const chosen = event.target.value as Theme
          chooseTheme(chosen)
          setTheme(chosen)
        }}
      >
        {THEMES.map(id => (
          <option key={id} value={id}>
            {texts.shell.themes[id]}
          </option>
        ))}
      </select>
    </div>
  )
}
