" Portent's text traces: portent-trace(5). tools/check-syntax keeps the words.
if exists('b:current_syntax')
  finish
endif

syn case match
syn match portenttraceThread '^[^|#][^|]*|' nextgroup=portenttraceOp,portenttraceBad
syn match portenttraceBad '[^|]\+' contained
syn keyword portenttraceOp init fork join r w u acq rel racq rrel wait notify sync begin end event int state contended clock lost alloc free fence stack contained nextgroup=portenttraceObject
syn match portenttraceObject '([^|]\{-})\ze\%(=\||\|$\)' contained nextgroup=portenttraceValue
syn match portenttraceValue '=\%("\%(\\.\|[^"\\]\)*"\|[^|]*\)' contained
syn match portenttraceField '|\zs[tcsm]=[^|]*'
syn keyword portenttraceOrder relaxed acquire release acq_rel seq_cst contained containedin=portenttraceField
syn match portenttraceComment '^\s*#.*$' contains=@Spell

hi def link portenttraceThread Identifier
hi def link portenttraceBad Error
hi def link portenttraceOp Function
hi def link portenttraceObject Type
hi def link portenttraceValue Number
hi def link portenttraceField Special
hi def link portenttraceOrder Keyword
hi def link portenttraceComment Comment

let b:current_syntax = 'portenttrace'
