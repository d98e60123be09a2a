/** Form fields. Each shows its own errors. */
import { keepPreviousData, type QueryKey, useQuery, useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Button } from 'react-aria-components/Button'
import { ComboBox } from 'react-aria-components/ComboBox'
import { Input } from 'react-aria-components/Input'
import { Label } from 'react-aria-components/Label'
import { ListBox, ListBoxItem } from 'react-aria-components/ListBox'
import { Popover } from 'react-aria-components/Popover'
import { Select, SelectValue } from 'react-aria-components/Select'
import { FieldError, TextField } from 'react-aria-components/TextField'
import { Text } from 'react-aria-components/Text'
import { TextArea } from 'react-aria-components/TextArea'
import type { FieldProblem } from '../interface/problem.ts'
import { useTexts } from '../texts/texts.tsx'
import { ProblemSentence } from './problem-note.tsx'
import { fieldProblemText } from './problem-text.ts'
import { useDebounced } from './debounce.ts'

interface FieldLook {
  readonly label: string
  readonly description?: string | undefined
  /** Error of this field; null if there is none. */
  readonly problem?: FieldProblem | null | undefined
}

interface TextLook extends FieldLook {
  readonly value: string
  readonly onChange: (value: string) => void
  readonly isRequired?: boolean
  readonly isReadOnly?: boolean
  readonly autoFocus?: boolean
  readonly placeholder?: string
}

export function TextInput({
  type = 'text',
  autoComplete = 'off',
  placeholder,
  ...look
}: TextLook & {
  readonly type?: 'text' | 'password' | 'search' | 'datetime-local' | 'number'
  readonly autoComplete?: string
}) {
  return (
    <TextField {...fieldProps(look)} type={type as 'text'} autoComplete={autoComplete}>
      <Label>{look.label}</Label>
      <Input placeholder={placeholder ?? ''} spellCheck="false" />
      <FieldNotes {...look} />
    </TextField>
  )
}

export function LongTextInput({ rows = 6, ...look }: TextLook & { readonly rows?: number }) {
  return (
    <TextField {...fieldProps(look)}>
      <Label>{look.label}</Label>
      <TextArea rows={rows} spellCheck="false" />
      <FieldNotes {...look} />
    </TextField>
  )
}

export interface Option {
  /** Value of the option. */
  readonly id: string
  /** Visible text; absent: the id. */
  readonly text?: string | undefined
  /** Text next to the option. */
  readonly note?: string | undefined
}

/** Selects one of a few options. */
export function Choice({
  value,
  onChange,
  options,
  ...look
}: FieldLook & {
  readonly value: string | null
  readonly onChange: (id: string) => void
  readonly options: readonly Option[]
  readonly isDisabled?: boolean
}) {
  return (
    <Select
      className="field"
      selectedKey={value}
      onSelectionChange={chosen => {
        if (chosen !== null) onChange(String(chosen))
      }}
      isInvalid={hasError(look.problem)}
      isDisabled={look.isDisabled ?? false}
    >
      <Label>{look.label}</Label>
      <Button className="select">
        <SelectValue />
        <span aria-hidden="true">▾</span>
      </Button>
      <FieldNotes {...look} />
      <Popover className="popover">
        <ListBox className="options" items={options}>
          {optionItem}
        </ListBox>
      </Popover>
    </Select>
  )
}

/**
 * Input for a key, with completion. It supports up to a million candidates, because the service searches for
 * matches. The value is the typed text, even if the user has chosen no suggestion. `load` returns the first
 * matches.
 */
export function KeyInput({
  value,
  onChange,
  onChoose,
  queryKey,
  load,
  placeholder = '',
  ...look
}: FieldLook & {
  readonly value: string
  readonly onChange: (value: string) => void
  /** Called when the user chooses a suggestion, even if the suggestion equals the typed text. */
  readonly onChoose?: (id: string) => void
  readonly queryKey: QueryKey
  readonly load: (search: string, signal: AbortSignal) => Promise<readonly Option[]>
  readonly placeholder?: string
  readonly isRequired?: boolean
  readonly autoFocus?: boolean
}) {
  const search = useDebounced(value)
  const queries = useQueryClient()
  const asked = [...queryKey, 'options', search]
  const {
    data = [],
    isPending,
    isPlaceholderData,
    fetchStatus,
    refetch,
  } = useQuery({
    queryKey: asked,
    queryFn: ({ signal }) => load(search, signal),
    placeholderData: keepPreviousData,
    retry: false,
  })
  return (
    <ComboBox
      className="field"
      allowsCustomValue
      onFocusChange={isFocused => {
        // If the field loses the focus, the search is canceled, because its result is no longer needed.
        if (!isFocused) void queries.cancelQueries({ queryKey: asked, exact: true })
        else if ((isPending || isPlaceholderData) && fetchStatus === 'idle') void refetch()
      }}
      allowsEmptyCollection={false}
      menuTrigger="focus"
      inputValue={value}
      onInputChange={onChange}
      onSelectionChange={chosen => {
        if (chosen !== null) onChoose?.(String(chosen))
      }}
      items={search === value && !isPlaceholderData ? data : likelyOf(data, value)}
      defaultFilter={() => true}
      isInvalid={hasError(look.problem)}
      isRequired={look.isRequired ?? false}
      validationBehavior="aria"
      autoFocus={look.autoFocus ?? false}
    >
      <Label>{look.label}</Label>
      <div className="with-button">
        <Input placeholder={placeholder} spellCheck="false" />
        <Button>
          <span aria-hidden="true">▾</span>
        </Button>
      </div>
      <FieldNotes {...look} />
      <Popover className="popover">
        <ListBox className="options">{optionItem}</ListBox>
      </Popover>
    </ComboBox>
  )
}

/**
 * Filters the former suggestions by the typed text until the new suggestions have arrived. Without the
 * filter, the user could choose a suggestion that does not match.
 */
function likelyOf(former: readonly Option[], typed: string): readonly Option[] {
  const wanted = typed.toLowerCase()
  const likely = former.filter(option =>
    Object.values(option).some(text => text?.toLowerCase().includes(wanted)),
  )
  // If no former suggestion matches, all of them are kept: a list without options would close and not open
  // again.
  return likely.length === 0 ? former : likely
}

/** Text field that filters a list while the user types. */
export function SearchInput({
  value,
  onChange,
  label,
}: {
  readonly value: string
  readonly onChange: (value: string) => void
  readonly label?: string
}) {
  const texts = useTexts().parts
  return (
    <TextField
      className="field grow"
      type="search"
      value={value}
      onChange={onChange}
      aria-label={label ?? texts.search}
    >
      <Input placeholder={label ?? texts.search} spellCheck="false" />
    </TextField>
  )
}

const optionItem = ({ id, text = id, note }: Option): ReactNode => (
  <ListBoxItem id={id} textValue={id} className="option">
    <span>{text}</span>
    {note === undefined ? null : <span className="soft">{note}</span>}
  </ListBoxItem>
)

function FieldNotes({ description, problem }: Omit<FieldLook, 'label'>) {
  const texts = useTexts()
  const text = problem === null || problem === undefined ? null : fieldProblemText(problem, texts)
  return (
    <>
      {description === undefined ? null : (
        <Text slot="description" className="description">
          {description}
        </Text>
      )}
      <FieldError className="problem">{text === null ? '' : <ProblemSentence {...text} />}</FieldError>
    </>
  )
}

function fieldProps({
  value,
  onChange,
  isRequired = false,
  isReadOnly = false,
  autoFocus = false,
  problem,
}: TextLook) {
  return {
    className: 'field',
    value,
    onChange,
    isRequired,
    isReadOnly,
    autoFocus,
    isInvalid: hasError(problem),
    validationBehavior: 'aria',
  } as const
}

function hasError(problem: FieldProblem | null | undefined): boolean {
  return problem !== null && problem !== undefined
}
