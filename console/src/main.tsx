/** Entry point: renders the console into its page. */
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import './styles/base.css'
import './styles/parts.css'
import './styles/frame.css'
import { applyTheme } from './shell/theme.ts'

applyTheme()
createRoot(document.querySelector('#console')!).render(
  <StrictMode>
    <App />
  </StrictMode>,
)
