/*
 * The plug-in that clang loads (-fpass-plugin): the rewriting as the first pass of clang's pipeline, so that one
 * process does what plain clang's one does. In C++ because LLVM has no other interface for this; everything else is in
 * pass.c.
 *
 * Where the rewriting has run the optimiser itself, clang's own passes are skipped afterwards, but for those that no
 * program can do without. What the passes have to say about the source is not clang's to print (rewrite.c), so its
 * handler of diagnostics is put aside meanwhile.
 */
#include <cstdlib>
#include <memory>
#include <unistd.h>

#include <llvm/IR/DiagnosticHandler.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PassInstrumentation.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>
#include <llvm/Support/Signals.h>

#include "instrument/pass.h"

namespace
{

class rewriting : public llvm::PassInfoMixin<rewriting>
{
    std::shared_ptr<bool> optimized;

  public:
    explicit rewriting(std::shared_ptr<bool> flag) : optimized(std::move(flag))
    {
    }

    llvm::PreservedAnalyses run(llvm::Module &module, llvm::ModuleAnalysisManager &)
    {
        llvm::LLVMContext &context = module.getContext();
        std::unique_ptr<llvm::DiagnosticHandler> clangs = context.getDiagnosticHandler();
        context.setDiagnosticHandler(std::make_unique<llvm::DiagnosticHandler>());
        if (!pt_pass_run(llvm::wrap(&module), optimized.get())) {
            llvm::sys::RunInterruptHandlers(); /* removes clang's half-made output */
            _exit(1);
        }
        context.setDiagnosticHandler(std::move(clangs));
        return llvm::PreservedAnalyses::none();
    }

    static bool isRequired()
    {
        return true;
    } /* with -O0, too */
};

void add_to(llvm::PassBuilder &builder)
{
    auto optimized = std::make_shared<bool>(false);
    builder.registerPipelineStartEPCallback(
        [optimized](llvm::ModulePassManager &passes, auto) { passes.addPass(rewriting(optimized)); });
    if (llvm::PassInstrumentationCallbacks *callbacks = builder.getPassInstrumentationCallbacks())
        callbacks->registerShouldRunOptionalPassCallback(
            [optimized](llvm::StringRef, llvm::Any) { return !*optimized; });
}

} // namespace

extern "C" __attribute__((visibility("default"))) llvm::PassPluginLibraryInfo llvmGetPassPluginInfo()
{
    return {LLVM_PLUGIN_API_VERSION, "portent", PORTENT_VERSION, add_to};
}
